ClusterId = 1
ProcId = 0
MyType = "Job"
JobStatus = 1
JobUniverse = 5
Owner = "ann"
User = "ann@x"
RequestCpus = 1
Requirements = TARGET.Cpus >= RequestCpus

ClusterId = 2
ProcId = 0
MyType = "Job"
JobStatus = 2
JobUniverse = 5
Owner = "ann"
User = "ann@x"
RequestCpus = 1
RemoteHost = "slot1@m1"
Requirements = TARGET.Cpus >= RequestCpus

ClusterId = 3
ProcId = 0
MyType = "Job"
JobStatus = 5
JobUniverse = 5
Owner = "ann"
User = "ann@x"
RequestCpus = 1
HoldReason = "disk full"
Requirements = TARGET.Cpus >= RequestCpus

ClusterId = 4
ProcId = 0
MyType = "Job"
JobStatus = 3
JobUniverse = 5
Owner = "ann"
User = "ann@x"
RequestCpus = 1
Requirements = TARGET.Cpus >= RequestCpus

ClusterId = 5
ProcId = 0
MyType = "Job"
JobStatus = 4
JobUniverse = 5
Owner = "ann"
User = "ann@x"
RequestCpus = 1
Requirements = TARGET.Cpus >= RequestCpus

ClusterId = 6
ProcId = 0
MyType = "Job"
JobStatus = 1
JobUniverse = 7
Owner = "ann"
User = "ann@x"
RequestCpus = 1
Requirements = TARGET.Cpus >= RequestCpus
