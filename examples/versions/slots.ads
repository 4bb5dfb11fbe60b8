MyType = "Machine"
Name = "old@exec1"
Machine = "exec1"
CondorVersion = "$CondorVersion: 23.0.28 2025-09-04 $"
Cpus = 1
Memory = 4096
Disk = 1000000
State = "Unclaimed"
Activity = "Idle"
Requirements = TARGET.RequestMemory <= 2K

MyType = "Machine"
Name = "new@exec2"
Machine = "exec2"
CondorVersion = "$CondorVersion: 25.14.1 2026-09-10 $"
Cpus = 1
Memory = 4096
Disk = 1000000
State = "Unclaimed"
Activity = "Idle"
Requirements = TARGET.RequestMemory <= 2K
