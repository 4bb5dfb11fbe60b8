Name = "slot1@m01.example.org"
MyType = "Machine"
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 8192
Start = TARGET.RequestMemory <= Memory && TARGET.RequestCpus <= Cpus
Requirements = Start
MyCurrentTime = 1795000000

Name = "slot1@m02.example.org"
MyType = "Machine"
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 8192
Start = TARGET.RequestMemory <= Memory && TARGET.RequestCpus <= Cpus
Requirements = Start
MyCurrentTime = 1795000000

Name = "slot1@m03.example.org"
MyType = "Machine"
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 8192
Start = TARGET.RequestMemory <= Memory && TARGET.RequestCpus <= Cpus
Requirements = Start
MyCurrentTime = 1795000000

Name = "slot1@m04.example.org"
MyType = "Machine"
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 8192
Start = TARGET.RequestMemory <= Memory && TARGET.RequestCpus <= Cpus
Requirements = Start
MyCurrentTime = 1795000000

Name = "slot1@m05.example.org"
MyType = "Machine"
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 16384
Start = TARGET.RequestMemory <= Memory && TARGET.IsShort =?= true
Requirements = Start
MyCurrentTime = 1795000000

Name = "slot1@m06.example.org"
MyType = "Machine"
State = "Claimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 32768
Start = TARGET.RequestMemory <= Memory && TARGET.IsShort =?= true
Requirements = Start
HasSingularity = true
RemoteUser = "carol@example.org"
MyCurrentTime = 1795000000
