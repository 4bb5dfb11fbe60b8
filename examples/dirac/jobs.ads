ClusterId = 1
ProcId = 0
JobStatus = 4
Owner = "ann"
User = "ann@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#1.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
JobType = "User"
JobCurrentStartDate = 1795012000
CompletionDate = 1795192000
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 0
JobStatus = 4
Owner = "bob"
User = "bob@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#2.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
JobType = "User"
JobCurrentStartDate = 1795182000
CompletionDate = 1795206000
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 0
JobStatus = 4
Owner = "prod1"
User = "prod1@example.org"
DiracGroup = "lhcb_mc"
GlobalJobId = "submit.example.org#3.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
JobType = "MCSimulation"
JobCurrentStartDate = 1794912000
CompletionDate = 1795112000
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 4
ProcId = 0
JobStatus = 2
Owner = "ann"
User = "ann@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#4.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
JobType = "User"
JobCurrentStartDate = 1795204800
RemoteHost = "slot1@r3.example.org"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 5
ProcId = 0
JobStatus = 2
Owner = "prod1"
User = "prod1@example.org"
DiracGroup = "lhcb_mc"
GlobalJobId = "submit.example.org#5.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
JobType = "MCSimulation"
JobCurrentStartDate = 1795132000
RemoteHost = "slot1@r4.example.org"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 6
ProcId = 0
JobStatus = 2
Owner = "dora"
User = "dora@example.org"
DiracGroup = "lhcb_data"
GlobalJobId = "submit.example.org#6.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
JobType = "DataReconstruction"
JobCurrentStartDate = 1795172000
RemoteHost = "slot1@c4.example.org"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 7
ProcId = 0
JobStatus = 1
Owner = "ann"
User = "ann@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#7.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 3000
JobType = "User"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 7
ProcId = 1
JobStatus = 1
Owner = "ann"
User = "ann@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#7.1#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 3000
JobType = "User"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 7
ProcId = 2
JobStatus = 1
Owner = "ann"
User = "ann@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#7.2#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 3000
JobType = "User"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 7
ProcId = 3
JobStatus = 1
Owner = "ann"
User = "ann@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#7.3#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 3000
JobType = "User"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 8
ProcId = 0
JobStatus = 1
Owner = "ann"
User = "ann@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#8.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 80000
JobType = "User"
UserPriority = 3
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 9
ProcId = 0
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#9.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 3600
JobType = "User"
Site = "RAL"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 9
ProcId = 1
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
DiracGroup = "lhcb_user"
GlobalJobId = "submit.example.org#9.1#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 3600
JobType = "User"
Site = "RAL"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 10
ProcId = 0
JobStatus = 1
Owner = "prod1"
User = "prod1@example.org"
DiracGroup = "lhcb_mc"
GlobalJobId = "submit.example.org#10.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 100000
JobType = "MCSimulation"
BannedSites = "CERN"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 10
ProcId = 1
JobStatus = 1
Owner = "prod1"
User = "prod1@example.org"
DiracGroup = "lhcb_mc"
GlobalJobId = "submit.example.org#10.1#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 100000
JobType = "MCSimulation"
BannedSites = "CERN"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 10
ProcId = 2
JobStatus = 1
Owner = "prod1"
User = "prod1@example.org"
DiracGroup = "lhcb_mc"
GlobalJobId = "submit.example.org#10.2#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 100000
JobType = "MCSimulation"
BannedSites = "CERN"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 11
ProcId = 0
JobStatus = 1
Owner = "prod2"
User = "prod2@example.org"
DiracGroup = "lhcb_mc"
GlobalJobId = "submit.example.org#11.0#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 100000
JobType = "MCSimulation"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 11
ProcId = 1
JobStatus = 1
Owner = "prod2"
User = "prod2@example.org"
DiracGroup = "lhcb_mc"
GlobalJobId = "submit.example.org#11.1#1795210000"
RequestCpus = 1
RequestMemory = 2000
CPUTime = 100000
JobType = "MCSimulation"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 12
ProcId = 0
JobStatus = 1
Owner = "dora"
User = "dora@example.org"
DiracGroup = "lhcb_data"
GlobalJobId = "submit.example.org#12.0#1795210000"
RequestCpus = 4
RequestMemory = 2000
CPUTime = 43200
JobType = "DataReconstruction"
Tags = "Tape"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 12
ProcId = 1
JobStatus = 1
Owner = "dora"
User = "dora@example.org"
DiracGroup = "lhcb_data"
GlobalJobId = "submit.example.org#12.1#1795210000"
RequestCpus = 4
RequestMemory = 2000
CPUTime = 43200
JobType = "DataReconstruction"
Tags = "Tape"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 13
ProcId = 0
JobStatus = 1
Owner = "dora"
User = "dora@example.org"
DiracGroup = "lhcb_data"
GlobalJobId = "submit.example.org#13.0#1795210000"
RequestCpus = 4
RequestMemory = 2000
CPUTime = 43200
JobType = "DataReconstruction"
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 13
ProcId = 1
JobStatus = 1
Owner = "dora"
User = "dora@example.org"
DiracGroup = "lhcb_data"
GlobalJobId = "submit.example.org#13.1#1795210000"
RequestCpus = 4
RequestMemory = 2000
CPUTime = 43200
JobType = "DataReconstruction"
Requirements = TARGET.Cpus >= MY.RequestCpus
