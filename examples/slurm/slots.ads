MyType = "Machine"
Name = "slot1@n1.lab.example"
Machine = "n1.lab.example"
SlotType = "Partitionable"
PartitionableSlot = true
State = "Unclaimed"
Activity = "Idle"
Cpus = 16
TotalSlotCpus = 16
Memory = 64000
TotalSlotMemory = 64000
Requirements = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
MyCurrentTime = 1795212422

MyType = "Machine"
Name = "slot1@n2.lab.example"
Machine = "n2.lab.example"
SlotType = "Partitionable"
PartitionableSlot = true
State = "Unclaimed"
Activity = "Idle"
Cpus = 16
TotalSlotCpus = 16
Memory = 64000
TotalSlotMemory = 64000
Requirements = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
MyCurrentTime = 1795212422

MyType = "Machine"
Name = "slot1@n3.lab.example"
Machine = "n3.lab.example"
SlotType = "Partitionable"
PartitionableSlot = true
State = "Unclaimed"
Activity = "Idle"
Cpus = 16
TotalSlotCpus = 16
Memory = 64000
TotalSlotMemory = 64000
Requirements = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
MyCurrentTime = 1795212422

MyType = "Machine"
Name = "slot1@n4.lab.example"
Machine = "n4.lab.example"
SlotType = "Partitionable"
PartitionableSlot = true
State = "Unclaimed"
Activity = "Idle"
Cpus = 16
TotalSlotCpus = 16
Memory = 64000
TotalSlotMemory = 64000
Requirements = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
MyCurrentTime = 1795212422

MyType = "Machine"
Name = "slot1@n5.lab.example"
Machine = "n5.lab.example"
SlotType = "Partitionable"
PartitionableSlot = true
State = "Unclaimed"
Activity = "Idle"
Cpus = 16
TotalSlotCpus = 16
Memory = 64000
TotalSlotMemory = 64000
Requirements = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
MyCurrentTime = 1795212422

MyType = "Machine"
Name = "slot1@n6.lab.example"
Machine = "n6.lab.example"
SlotType = "Partitionable"
PartitionableSlot = true
State = "Unclaimed"
Activity = "Idle"
Cpus = 16
TotalSlotCpus = 16
Memory = 64000
TotalSlotMemory = 64000
Requirements = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
MyCurrentTime = 1795212422

MyType = "Machine"
Name = "slot1@n7.lab.example"
Machine = "n7.lab.example"
SlotType = "Partitionable"
PartitionableSlot = true
State = "Unclaimed"
Activity = "Idle"
Cpus = 16
TotalSlotCpus = 16
Memory = 64000
TotalSlotMemory = 64000
Requirements = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
MyCurrentTime = 1795212422

MyType = "Machine"
Name = "slot1@n8.lab.example"
Machine = "n8.lab.example"
SlotType = "Partitionable"
PartitionableSlot = true
State = "Unclaimed"
Activity = "Idle"
Cpus = 16
TotalSlotCpus = 16
Memory = 64000
TotalSlotMemory = 64000
Requirements = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
MyCurrentTime = 1795212422
