ClusterId = 1
Owner = "ann"
User = "ann@x"
QDate = 1000
RemoteWallClockTime = 60
Requirements = TARGET.Cpus >= 1

ClusterId = 2
Owner = "bob"
User = "bob@x"
QDate = 1005
RemoteWallClockTime = 60
Requirements = TARGET.HasNoSuchThing
