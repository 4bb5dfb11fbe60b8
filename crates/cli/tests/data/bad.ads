Name = "one"
Memory = 1

Name = "two"
Memory = (2
State = "lost"

Name = "three"
Memory = 3
