Arch = "X86_64"
Cpus = 4
Disk = 10000000
Name = "slot1@m04.pool.test"
Rank = 0.0
OpSys = "LINUX"
Start = true
State = "Unclaimed"
KFlops = 1896000
Memory = 4096
MyType = "Machine"
SlotID = 1
Machine = "m04.pool.test"
Activity = "Idle"
MyAddress = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m04.pool.test>"
SlotWeight = Cpus
CurrentRank = 0.0
UpdatesLost = 0
Requirements = Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
StartdIpAddr = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m04.pool.test>"
UpdatesTotal = 1
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505744
UpdatesHistory = "00000000000000000000000000000000"
HasFileTransfer = true
FileSystemDomain = "pool.test"
UpdatesSequenced = 0
EnteredCurrentState = 1795155744
AuthenticatedIdentity = "unauthenticated@unmapped"
HasTransferInputRemaps = true

Arch = "X86_64"
Cpus = 4
Disk = 10000000
Name = "slot1@m06.pool.test"
Rank = 0.0
OpSys = "LINUX"
Start = true
State = "Unclaimed"
KFlops = 1894000
Memory = 16384
MyType = "Machine"
SlotID = 1
Machine = "m06.pool.test"
Activity = "Idle"
MyAddress = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m06.pool.test>"
SlotWeight = Cpus
CurrentRank = 0.0
UpdatesLost = 0
Requirements = Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
StartdIpAddr = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m06.pool.test>"
UpdatesTotal = 1
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505744
UpdatesHistory = "00000000000000000000000000000000"
HasFileTransfer = true
FileSystemDomain = "pool.test"
UpdatesSequenced = 0
EnteredCurrentState = 1795155744
AuthenticatedIdentity = "unauthenticated@unmapped"
HasTransferInputRemaps = true

Arch = "X86_64"
Cpus = 4
Disk = 10000000
Name = "slot1@m01.pool.test"
Rank = 0.0
OpSys = "LINUX"
Start = true
State = "Unclaimed"
KFlops = 1899000
Memory = 4096
MyType = "Machine"
SlotID = 1
Machine = "m01.pool.test"
Activity = "Idle"
MyAddress = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m01.pool.test>"
SlotWeight = Cpus
CurrentRank = 0.0
UpdatesLost = 0
Requirements = Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
StartdIpAddr = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m01.pool.test>"
UpdatesTotal = 1
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505744
UpdatesHistory = "00000000000000000000000000000000"
HasFileTransfer = true
FileSystemDomain = "pool.test"
UpdatesSequenced = 0
EnteredCurrentState = 1795155744
AuthenticatedIdentity = "unauthenticated@unmapped"
HasTransferInputRemaps = true

Arch = "X86_64"
Cpus = 4
Disk = 10000000
Name = "slot1@m08.pool.test"
Rank = 0.0
OpSys = "LINUX"
Start = true
State = "Unclaimed"
KFlops = 1892000
Memory = 16384
MyType = "Machine"
SlotID = 1
Machine = "m08.pool.test"
Activity = "Idle"
MyAddress = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m08.pool.test>"
SlotWeight = Cpus
CurrentRank = 0.0
UpdatesLost = 0
Requirements = Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
StartdIpAddr = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m08.pool.test>"
UpdatesTotal = 1
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505744
UpdatesHistory = "00000000000000000000000000000000"
HasFileTransfer = true
FileSystemDomain = "pool.test"
UpdatesSequenced = 0
EnteredCurrentState = 1795155744
AuthenticatedIdentity = "unauthenticated@unmapped"
HasTransferInputRemaps = true

Arch = "X86_64"
Cpus = 4
Disk = 10000000
Name = "slot1@m03.pool.test"
Rank = 0.0
OpSys = "LINUX"
Start = true
State = "Unclaimed"
KFlops = 1897000
Memory = 4096
MyType = "Machine"
SlotID = 1
Machine = "m03.pool.test"
Activity = "Idle"
MyAddress = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m03.pool.test>"
SlotWeight = Cpus
CurrentRank = 0.0
UpdatesLost = 0
Requirements = Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
StartdIpAddr = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m03.pool.test>"
UpdatesTotal = 1
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505744
UpdatesHistory = "00000000000000000000000000000000"
HasFileTransfer = true
FileSystemDomain = "pool.test"
UpdatesSequenced = 0
EnteredCurrentState = 1795155744
AuthenticatedIdentity = "unauthenticated@unmapped"
HasTransferInputRemaps = true

Arch = "X86_64"
Cpus = 4
Disk = 10000000
Name = "slot1@m05.pool.test"
Rank = 0.0
OpSys = "LINUX"
Start = true
State = "Unclaimed"
KFlops = 1895000
Memory = 4096
MyType = "Machine"
SlotID = 1
Machine = "m05.pool.test"
Activity = "Idle"
MyAddress = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m05.pool.test>"
SlotWeight = Cpus
CurrentRank = 0.0
UpdatesLost = 0
Requirements = Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
StartdIpAddr = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m05.pool.test>"
UpdatesTotal = 1
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505744
UpdatesHistory = "00000000000000000000000000000000"
HasFileTransfer = true
FileSystemDomain = "pool.test"
UpdatesSequenced = 0
EnteredCurrentState = 1795155744
AuthenticatedIdentity = "unauthenticated@unmapped"
HasTransferInputRemaps = true

Arch = "X86_64"
Cpus = 4
Disk = 10000000
Name = "slot1@m07.pool.test"
Rank = 0.0
OpSys = "LINUX"
Start = true
State = "Unclaimed"
KFlops = 1893000
Memory = 16384
MyType = "Machine"
SlotID = 1
Machine = "m07.pool.test"
Activity = "Idle"
MyAddress = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m07.pool.test>"
SlotWeight = Cpus
CurrentRank = 0.0
UpdatesLost = 0
Requirements = Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
StartdIpAddr = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m07.pool.test>"
UpdatesTotal = 1
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505744
UpdatesHistory = "00000000000000000000000000000000"
HasFileTransfer = true
FileSystemDomain = "pool.test"
UpdatesSequenced = 0
EnteredCurrentState = 1795155744
AuthenticatedIdentity = "unauthenticated@unmapped"
HasTransferInputRemaps = true

Arch = "X86_64"
Cpus = 4
Disk = 10000000
Name = "slot1@m02.pool.test"
Rank = 0.0
OpSys = "LINUX"
Start = true
State = "Unclaimed"
KFlops = 1898000
Memory = 4096
MyType = "Machine"
SlotID = 1
Machine = "m02.pool.test"
Activity = "Idle"
MyAddress = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m02.pool.test>"
SlotWeight = Cpus
CurrentRank = 0.0
UpdatesLost = 0
Requirements = Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
StartdIpAddr = "<127.0.0.1:31401?addrs=127.0.0.1-31401&alias=m02.pool.test>"
UpdatesTotal = 1
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505744
UpdatesHistory = "00000000000000000000000000000000"
HasFileTransfer = true
FileSystemDomain = "pool.test"
UpdatesSequenced = 0
EnteredCurrentState = 1795155744
AuthenticatedIdentity = "unauthenticated@unmapped"
HasTransferInputRemaps = true

