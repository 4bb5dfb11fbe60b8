ClusterId = 1
ProcId = 0
JobStatus = 1
Owner = "alice"
User = "alice@example.org"
AccountingGroup = "physics.hep.alice"
GlobalJobId = "submit.example.org#1.0#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 1
ProcId = 1
JobStatus = 1
Owner = "alice"
User = "alice@example.org"
AccountingGroup = "physics.hep.alice"
GlobalJobId = "submit.example.org#1.1#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 1
ProcId = 2
JobStatus = 1
Owner = "alice"
User = "alice@example.org"
AccountingGroup = "physics.hep.alice"
GlobalJobId = "submit.example.org#1.2#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 1
ProcId = 3
JobStatus = 1
Owner = "alice"
User = "alice@example.org"
AccountingGroup = "physics.hep.alice"
GlobalJobId = "submit.example.org#1.3#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 0
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.0#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 1
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.1#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 2
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.2#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 3
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.3#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 4
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.4#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 5
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.5#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 6
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.6#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 7
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.7#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 8
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.8#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 9
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.9#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 10
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.10#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 11
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.11#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 12
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.12#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 13
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.13#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 14
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.14#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 15
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.15#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 16
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.16#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 17
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.17#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 18
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.18#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 19
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.19#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 20
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.20#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 21
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.21#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 22
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.22#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 23
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.23#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 2
ProcId = 24
JobStatus = 1
Owner = "bob"
User = "bob@example.org"
AccountingGroup = "physics.lep.bob"
GlobalJobId = "submit.example.org#2.24#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 0
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.0#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 1
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.1#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 2
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.2#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 3
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.3#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 4
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.4#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 5
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.5#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 6
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.6#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 7
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.7#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 8
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.8#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 9
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.9#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 10
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.10#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 3
ProcId = 11
JobStatus = 1
Owner = "carol"
User = "carol@example.org"
AccountingGroup = "chemistry.carol"
GlobalJobId = "submit.example.org#3.11#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 4
ProcId = 0
JobStatus = 1
Owner = "dave"
User = "dave@example.org"
GlobalJobId = "submit.example.org#4.0#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 4
ProcId = 1
JobStatus = 1
Owner = "dave"
User = "dave@example.org"
GlobalJobId = "submit.example.org#4.1#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 4
ProcId = 2
JobStatus = 1
Owner = "dave"
User = "dave@example.org"
GlobalJobId = "submit.example.org#4.2#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 4
ProcId = 3
JobStatus = 1
Owner = "dave"
User = "dave@example.org"
GlobalJobId = "submit.example.org#4.3#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 4
ProcId = 4
JobStatus = 1
Owner = "dave"
User = "dave@example.org"
GlobalJobId = "submit.example.org#4.4#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus

ClusterId = 4
ProcId = 5
JobStatus = 1
Owner = "dave"
User = "dave@example.org"
GlobalJobId = "submit.example.org#4.5#1795210000"
RequestCpus = 1
RequestMemory = 1024
Requirements = TARGET.Cpus >= MY.RequestCpus
