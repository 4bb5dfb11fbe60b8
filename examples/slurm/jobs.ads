MyType = "Job"
ClusterId = 1
ProcId = 0
Owner = "daemon"
User = "daemon@lab.example"
AccountingGroup = "phys.daemon"
JobStatus = 1
JobUniverse = 5
JobPrio = 100
QDate = 1795211823
EnteredCurrentStatus = 1795212419
RequestCpus = 4
RequestMemory = 4000
PartitionName = "batch"
Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory

MyType = "Job"
ClusterId = 2
ProcId = 0
Owner = "lp"
User = "lp@lab.example"
AccountingGroup = "phys.astro.lp"
JobStatus = 1
JobUniverse = 5
JobPrio = 0
QDate = 1795211824
EnteredCurrentStatus = 1795212422
RequestCpus = 16
RequestMemory = 16000
RequestNodes = 4
QOS = "high"
PartitionName = "batch"
Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory

MyType = "Job"
ClusterId = 3
ProcId = 0
Owner = "games"
User = "games@lab.example"
AccountingGroup = "phys.hep.games"
JobStatus = 1
JobUniverse = 5
JobPrio = -50
QDate = 1795211825
EnteredCurrentStatus = 1795212422
RequestCpus = 1
RequestMemory = 1000
RequestNodes = 2
PartitionName = "debug"
Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory

MyType = "Job"
ClusterId = 4
ProcId = 0
Owner = "news"
User = "news@lab.example"
AccountingGroup = "chem.news"
JobStatus = 1
JobUniverse = 5
JobPrio = 0
QDate = 1795211826
EnteredCurrentStatus = 1795212422
RequestCpus = 1
RequestMemory = 1000
PartitionName = "zero"
Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory

MyType = "Job"
ClusterId = 5
ProcId = 0
Owner = "sys"
User = "sys@lab.example"
AccountingGroup = "phys.hep.sys"
JobStatus = 1
JobUniverse = 5
JobPrio = 0
QDate = 1795211827
EnteredCurrentStatus = 1795212422
RequestCpus = 16
RequestMemory = 8000
QOS = "low"
PartitionName = { "batch", "debug" }
Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory

MyType = "Job"
ClusterId = 6
ProcId = 0
Owner = "mail"
User = "mail@lab.example"
AccountingGroup = "phys.astro.mail"
JobStatus = 1
JobUniverse = 5
JobPrio = 0
QDate = 1795211828
EnteredCurrentStatus = 1795212422
RequestCpus = 16
RequestMemory = 64000
RequestNodes = 8
PartitionName = "batch"
Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory
