MyType = "Machine"
Name = "slot1@m01.example.org"
Machine = "m01.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.1:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m02.example.org"
Machine = "m02.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.2:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m03.example.org"
Machine = "m03.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.3:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m04.example.org"
Machine = "m04.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.4:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m05.example.org"
Machine = "m05.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.5:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m06.example.org"
Machine = "m06.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.6:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m07.example.org"
Machine = "m07.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.7:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m08.example.org"
Machine = "m08.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.8:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m09.example.org"
Machine = "m09.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.9:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m10.example.org"
Machine = "m10.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.10:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m11.example.org"
Machine = "m11.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.11:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m12.example.org"
Machine = "m12.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.12:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m13.example.org"
Machine = "m13.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.13:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m14.example.org"
Machine = "m14.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.14:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m15.example.org"
Machine = "m15.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.15:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m16.example.org"
Machine = "m16.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.16:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m17.example.org"
Machine = "m17.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.17:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m18.example.org"
Machine = "m18.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.18:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m19.example.org"
Machine = "m19.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.19:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m20.example.org"
Machine = "m20.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.20:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m21.example.org"
Machine = "m21.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.21:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m22.example.org"
Machine = "m22.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.22:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m23.example.org"
Machine = "m23.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.23:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m24.example.org"
Machine = "m24.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.24:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m25.example.org"
Machine = "m25.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.25:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m26.example.org"
Machine = "m26.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.26:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m27.example.org"
Machine = "m27.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.27:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m28.example.org"
Machine = "m28.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.28:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m29.example.org"
Machine = "m29.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.29:9618>"
MyCurrentTime = 1795212000

MyType = "Machine"
Name = "slot1@m30.example.org"
Machine = "m30.example.org"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 4096
Requirements = TARGET.RequestMemory <= MY.Memory
MyAddress = "<192.0.2.30:9618>"
MyCurrentTime = 1795212000
