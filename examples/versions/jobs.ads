MyType = "Job"
ClusterId = 1
ProcId = 0
CondorVersion = "$CondorVersion: 25.14.1 2026-09-10 $"
Owner = "ada"
User = "ada@example.org"
JobStatus = 1
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Memory >= RequestMemory
