MyType = "Machine"
Name = "slot1@m1"
State = "Claimed"
Activity = "Busy"
RemoteUser = "ann@x"
Cpus = 1
Requirements = TARGET.RequestCpus <= Cpus
