MyType = "Machine"
Name = "slot1@c1.example.org"
Machine = "c1.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Site = "CERN"
OpSysAndVer = "EL9"
Arch = "X86_64"
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.1:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@c2.example.org"
Machine = "c2.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Site = "CERN"
OpSysAndVer = "EL9"
Arch = "X86_64"
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.2:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@c3.example.org"
Machine = "c3.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 8
Memory = 32768
Site = "CERN"
OpSysAndVer = "EL9"
Arch = "X86_64"
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.3:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@c4.example.org"
Machine = "c4.example.org"
State = "Claimed"
Activity = "Busy"
Cpus = 1
Memory = 4096
Site = "CERN"
OpSysAndVer = "EL9"
Arch = "X86_64"
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.4:9618>"
MyCurrentTime = 1795212000
RemoteUser = "dora@example.org"
RemoteOwner = "dora@example.org"

MyType = "Machine"
Name = "slot1@r1.example.org"
Machine = "r1.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Site = "RAL"
OpSysAndVer = "EL9"
Arch = "X86_64"
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.5:9618>"
MyCurrentTime = 1795212000
CPUTimeLeft = 7200

MyType = "Machine"
Name = "slot1@r2.example.org"
Machine = "r2.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Site = "RAL"
OpSysAndVer = "EL9"
Arch = "X86_64"
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.6:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@r3.example.org"
Machine = "r3.example.org"
State = "Claimed"
Activity = "Busy"
Cpus = 1
Memory = 4096
Site = "RAL"
OpSysAndVer = "EL9"
Arch = "X86_64"
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.7:9618>"
MyCurrentTime = 1795212000
RemoteUser = "ann@example.org"
RemoteOwner = "ann@example.org"

MyType = "Machine"
Name = "slot1@r4.example.org"
Machine = "r4.example.org"
State = "Claimed"
Activity = "Busy"
Cpus = 1
Memory = 4096
Site = "RAL"
OpSysAndVer = "EL9"
Arch = "X86_64"
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.8:9618>"
MyCurrentTime = 1795212000
RemoteUser = "prod1@example.org"
RemoteOwner = "prod1@example.org"
