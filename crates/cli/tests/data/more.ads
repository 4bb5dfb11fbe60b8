Name = "c"
Memory = 512
Cpus = 1.5
State = "Unclaimed"

Name = "a"
Memory = 2048
Requirements = TARGET.x > 1 && State =!= "Owner"

Name = "b"
Memory = "many"
Note = "two words"

Name = "a"
Memory = 2048
Requirements = TARGET.x > 1 && State =!= "Owner"
