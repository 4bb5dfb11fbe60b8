# Attributes that mean other things in other versions of HTCondor.
Name = "a"
Disk = 10K
Limit = Limit ?: true
Requirements = TARGET.Tier ?: "" != "gold"

Name = "b"
Disk = 10K
