[ ClusterId = 1; ProcId = 0; Owner = "ann"; QDate = 1000; JobLength = 2; RequestCpus = 1; RequestMemory = 100; Requirements = true ]
[ ClusterId = 2; ProcId = 0; Owner = "bob"; QDate = 1030; JobLength = 1; RequestCpus = 2; RequestMemory = 100; Requirements = true ]
[ ClusterId = 3; ProcId = 0; Owner = "bob"; QDate = 1030; RequestCpus = 1; RequestMemory = 100; Requirements = true ]
