ClusterId = 8
ProcId = 0
GlobalJobId = "schedd.pool.test#8.0#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 2048
Iteration = 0
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 1
GlobalJobId = "schedd.pool.test#8.1#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 2048
Iteration = 1
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 2
GlobalJobId = "schedd.pool.test#8.2#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 2048
Iteration = 2
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 3
GlobalJobId = "schedd.pool.test#8.3#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 2048
Iteration = 0
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 4
GlobalJobId = "schedd.pool.test#8.4#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 2048
Iteration = 1
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 5
GlobalJobId = "schedd.pool.test#8.5#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 2048
Iteration = 2
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 6
GlobalJobId = "schedd.pool.test#8.6#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 2048
Iteration = 0
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 7
GlobalJobId = "schedd.pool.test#8.7#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 2048
Iteration = 1
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 8
GlobalJobId = "schedd.pool.test#8.8#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 16384
Iteration = 2
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 9
GlobalJobId = "schedd.pool.test#8.9#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 16384
Iteration = 0
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 10
GlobalJobId = "schedd.pool.test#8.10#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 16384
Iteration = 1
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 8
ProcId = 11
GlobalJobId = "schedd.pool.test#8.11#1795000000"
JobStatus = 1
JobUniverse = 5
User = "alice@pool.test"
Owner = "alice"
RequestCpus = 1
RequestMemory = 16384
Iteration = 2
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 0
GlobalJobId = "schedd.pool.test#9.0#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 2048
Iteration = 0
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 1
GlobalJobId = "schedd.pool.test#9.1#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 2048
Iteration = 1
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 2
GlobalJobId = "schedd.pool.test#9.2#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 2048
Iteration = 2
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 3
GlobalJobId = "schedd.pool.test#9.3#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 2048
Iteration = 0
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 4
GlobalJobId = "schedd.pool.test#9.4#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 2048
Iteration = 1
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 5
GlobalJobId = "schedd.pool.test#9.5#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 2048
Iteration = 2
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 6
GlobalJobId = "schedd.pool.test#9.6#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 2048
Iteration = 0
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 7
GlobalJobId = "schedd.pool.test#9.7#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 2048
Iteration = 1
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 8
GlobalJobId = "schedd.pool.test#9.8#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 16384
Iteration = 2
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 9
GlobalJobId = "schedd.pool.test#9.9#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 16384
Iteration = 0
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 10
GlobalJobId = "schedd.pool.test#9.10#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 16384
Iteration = 1
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0

ClusterId = 9
ProcId = 11
GlobalJobId = "schedd.pool.test#9.11#1795000000"
JobStatus = 1
JobUniverse = 5
User = "bob@pool.test"
Owner = "bob"
RequestCpus = 1
RequestMemory = 16384
Iteration = 2
Requirements = TARGET.OpSys == "LINUX"
Rank = 0.0
