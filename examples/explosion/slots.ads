Name = "slot1@m01.pool.test"
Machine = "m01.pool.test"
MyType = "Machine"
SlotID = 1
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 8192
KFlops = 1999000
Rank = 0.0
MaxJobRetirementTime = ifThenElse(TARGET.Iteration > 100, 3600, 0)
Start = TARGET.RequestMemory <= Memory && TARGET.GlobalJobId =!= "schedd.pool.test#7.0#1795000000"
Requirements = Start && TARGET.RequestCpus <= MY.Cpus
MyCurrentTime = 1795000000

Name = "slot1@m02.pool.test"
Machine = "m02.pool.test"
MyType = "Machine"
SlotID = 1
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 8192
KFlops = 1999000
Rank = 0.0
MaxJobRetirementTime = ifThenElse(TARGET.Iteration > 100, 3600, 0)
Start = TARGET.RequestMemory <= Memory && TARGET.GlobalJobId =!= "schedd.pool.test#7.0#1795000000"
Requirements = Start && TARGET.RequestCpus <= MY.Cpus
MyCurrentTime = 1795000000

Name = "slot1@m03.pool.test"
Machine = "m03.pool.test"
MyType = "Machine"
SlotID = 1
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 8192
KFlops = 1999000
Rank = 0.0
MaxJobRetirementTime = ifThenElse(TARGET.Iteration > 100, 3600, 0)
Start = TARGET.RequestMemory <= Memory && TARGET.GlobalJobId =!= "schedd.pool.test#7.0#1795000000"
Requirements = Start && TARGET.RequestCpus <= MY.Cpus
MyCurrentTime = 1795000000

Name = "slot1@m04.pool.test"
Machine = "m04.pool.test"
MyType = "Machine"
SlotID = 1
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
Cpus = 4
Memory = 8192
KFlops = 1999000
Rank = 0.0
MaxJobRetirementTime = ifThenElse(TARGET.Iteration > 100, 3600, 0)
Start = TARGET.RequestMemory <= Memory && TARGET.GlobalJobId =!= "schedd.pool.test#7.0#1795000000"
Requirements = Start && TARGET.RequestCpus <= MY.Cpus
MyCurrentTime = 1795000000
