Name = "physics.alice@pool.test"
MyType = "Submitter"
Machine = "127-0-0-1.pool.test"
HeldJobs = 0
IdleJobs = 6
AddressV1 = "{[ p=\"primary\"; a=\"127.0.0.1\"; port=15595; n=\"Internet\"; alias=\"127-0-0-1.pool.test\"; ], [ p=\"IPv4\"; a=\"127.0.0.1\"; port=15595; n=\"Internet\"; alias=\"127-0-0-1.pool.test\"; ]}"
MyAddress = "<127.0.0.1:15595?addrs=127.0.0.1-15595&alias=127-0-0-1.pool.test>"
WantResAd = true
ScheddName = "schedd@pool.test"
FlockedJobs = 0
RunningJobs = 0
UpdatesLost = 0
ScheddIpAddr = "<127.0.0.1:15595?addrs=127.0.0.1-15595&alias=127-0-0-1.pool.test>"
SubmitterTag = ""
UpdatesTotal = 3
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505746
LocalJobsIdle = 0
MyCurrentTime = 1795505746
OCUWantedJobs = 0
CondorPlatform = "$CondorPlatform: X86_64-Debian_ $"
OCURunningJobs = 0
UpdatesHistory = "00000000000000000000000000000000"
DaemonStartTime = 1795505744
LocalJobsRunning = 0
OCUClaimsClaimed = 0
UpdatesSequenced = 2
WeightedIdleJobs = 6
JobQueueBirthdate = 1795505744
OCUClaimsBorrowed = 0
SchedulerJobsIdle = 0
PrivateNetworkName = "127-0-0-1.pool.test"
WeightedRunningJobs = 0.0
AuthenticationMethod = "FS"
SchedulerJobsRunning = 0
UpdateSequenceNumber = 3
AuthenticatedIdentity = "unauthenticated@unmapped"
DaemonLastReconfigTime = 1795505746

Name = "physics.bob@pool.test"
MyType = "Submitter"
Machine = "127-0-0-1.pool.test"
HeldJobs = 0
IdleJobs = 6
AddressV1 = "{[ p=\"primary\"; a=\"127.0.0.1\"; port=15595; n=\"Internet\"; alias=\"127-0-0-1.pool.test\"; ], [ p=\"IPv4\"; a=\"127.0.0.1\"; port=15595; n=\"Internet\"; alias=\"127-0-0-1.pool.test\"; ]}"
MyAddress = "<127.0.0.1:15595?addrs=127.0.0.1-15595&alias=127-0-0-1.pool.test>"
WantResAd = true
ScheddName = "schedd@pool.test"
FlockedJobs = 0
RunningJobs = 0
UpdatesLost = 0
ScheddIpAddr = "<127.0.0.1:15595?addrs=127.0.0.1-15595&alias=127-0-0-1.pool.test>"
SubmitterTag = ""
UpdatesTotal = 2
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505746
LocalJobsIdle = 0
MyCurrentTime = 1795505746
OCUWantedJobs = 0
CondorPlatform = "$CondorPlatform: X86_64-Debian_ $"
OCURunningJobs = 0
UpdatesHistory = "00000000000000000000000000000000"
DaemonStartTime = 1795505744
LocalJobsRunning = 0
OCUClaimsClaimed = 0
UpdatesSequenced = 1
WeightedIdleJobs = 6
JobQueueBirthdate = 1795505744
OCUClaimsBorrowed = 0
SchedulerJobsIdle = 0
PrivateNetworkName = "127-0-0-1.pool.test"
WeightedRunningJobs = 0.0
AuthenticationMethod = "FS"
SchedulerJobsRunning = 0
UpdateSequenceNumber = 2
AuthenticatedIdentity = "unauthenticated@unmapped"
DaemonLastReconfigTime = 1795505746

Name = "chemistry.carol@pool.test"
MyType = "Submitter"
Machine = "127-0-0-1.pool.test"
HeldJobs = 0
IdleJobs = 3
AddressV1 = "{[ p=\"primary\"; a=\"127.0.0.1\"; port=15595; n=\"Internet\"; alias=\"127-0-0-1.pool.test\"; ], [ p=\"IPv4\"; a=\"127.0.0.1\"; port=15595; n=\"Internet\"; alias=\"127-0-0-1.pool.test\"; ]}"
MyAddress = "<127.0.0.1:15595?addrs=127.0.0.1-15595&alias=127-0-0-1.pool.test>"
WantResAd = true
ScheddName = "schedd@pool.test"
FlockedJobs = 0
RunningJobs = 0
UpdatesLost = 0
ScheddIpAddr = "<127.0.0.1:15595?addrs=127.0.0.1-15595&alias=127-0-0-1.pool.test>"
SubmitterTag = ""
UpdatesTotal = 2
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
LastHeardFrom = 1795505746
LocalJobsIdle = 0
MyCurrentTime = 1795505746
OCUWantedJobs = 0
CondorPlatform = "$CondorPlatform: X86_64-Debian_ $"
OCURunningJobs = 0
UpdatesHistory = "00000000000000000000000000000000"
DaemonStartTime = 1795505744
LocalJobsRunning = 0
OCUClaimsClaimed = 0
UpdatesSequenced = 1
WeightedIdleJobs = 9
JobQueueBirthdate = 1795505744
OCUClaimsBorrowed = 0
SchedulerJobsIdle = 0
PrivateNetworkName = "127-0-0-1.pool.test"
WeightedRunningJobs = 0.0
AuthenticationMethod = "FS"
SchedulerJobsRunning = 0
UpdateSequenceNumber = 2
AuthenticatedIdentity = "unauthenticated@unmapped"
DaemonLastReconfigTime = 1795505746

