ClusterId = 1
ProcId = 0
JobStatus = 1
JobUniverse = 5
MyType = "Job"
Owner = "alice"
User = "alice@example.org"
QDate = 1794990000
RequestCpus = 1
RequestMemory = 9000
Requirements = (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && (TARGET.Memory >= RequestMemory)

ClusterId = 2
ProcId = 0
JobStatus = 1
JobUniverse = 5
MyType = "Job"
Owner = "bob"
User = "bob@example.org"
QDate = 1794990000
RequestCpus = 1
RequestMemory = 1000
Requirements = (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && (TARGET.Memory >= RequestMemory) && TARGET.HasSingularty

ClusterId = 3
ProcId = 0
JobStatus = 1
JobUniverse = 5
MyType = "Job"
Owner = "alice"
User = "alice@example.org"
QDate = 1794990000
RequestCpus = 1
RequestMemory = 2000
Requirements = (TARGET.Arch == "aarch64" || TARGET.Arch == "ARM64") && TARGET.Memory >= RequestMemory

ClusterId = 4
ProcId = 0
JobStatus = 1
JobUniverse = 5
MyType = "Job"
Owner = "bob"
User = "bob@example.org"
QDate = 1794990000
RequestCpus = 1
RequestMemory = 12000
Requirements = (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && (TARGET.Memory >= RequestMemory)

ClusterId = 5
ProcId = 0
JobStatus = 1
JobUniverse = 5
MyType = "Job"
Owner = "alice"
User = "alice@example.org"
QDate = 1794990000
RequestCpus = 1
RequestMemory = 1000
Requirements = (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && (TARGET.Memory >= RequestMemory)
