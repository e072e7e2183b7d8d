BEGIN TRANSACTION;
CREATE TABLE agents (
        id TEXT PRIMARY KEY,
        organization TEXT NOT NULL,
        key TEXT NOT NULL,
        name TEXT NOT NULL,
        github_repository TEXT,
        beaker_config_path TEXT NOT NULL,
        created_at TEXT NOT NULL,
        UNIQUE (organization, key)
    );
INSERT INTO "agents" VALUES('agent_5aa6c23345ce1c85','local','local','local','local/project','.beaker/beaker.yaml','2026-11-30T17:37:51.849656Z');
CREATE TABLE artifact_files (
        artifact_id TEXT NOT NULL REFERENCES artifacts (id),
        position INTEGER NOT NULL,
        path TEXT NOT NULL,
        content_type TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        sha256 TEXT NOT NULL,
        received INTEGER NOT NULL,
        PRIMARY KEY (artifact_id, path)
    );
INSERT INTO "artifact_files" VALUES('art_1cd66b0edc58c1f2',0,'test.jsonl','application/octet-stream',75,'0f249e389e92a1e9c2adb6c364500e432b87654899274383cd46ffe976b5b142',1);
INSERT INTO "artifact_files" VALUES('art_1cd66b0edc58c1f2',1,'train.jsonl','application/octet-stream',104,'4f26bed53ac344129556b7fdf7040a6c4c3d7956f4f53bb6632d2d8139398bdf',1);
CREATE TABLE artifacts (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        agent_id TEXT NOT NULL REFERENCES agents (id),
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        display_name TEXT,
        artifact_key TEXT,
        manifest_digest TEXT NOT NULL,
        status TEXT NOT NULL,
        metadata TEXT NOT NULL,
        splits TEXT,
        total_count INTEGER,
        row_counts TEXT,
        promote INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        expires_at TEXT NOT NULL,
        completed_at TEXT,
        UNIQUE (agent_id, kind, name, manifest_digest)
    );
INSERT INTO "artifacts" VALUES(1,'art_1cd66b0edc58c1f2','agent_5aa6c23345ce1c85','dataset_snapshot','numbers',NULL,NULL,'89b7ce73a54657c2fa1b9c1ec4315358f3ecb1a64e4c6bb0ec200c3000279db4','COMPLETE','{"source":"made"}','{"train":4,"test":3}',NULL,'{"test":3,"train":4}',1,'2026-11-30T17:37:51.856844Z','2026-11-30T17:52:51.856844Z','2026-11-30T17:37:51.862058Z');
CREATE TABLE documents (sha256 TEXT PRIMARY KEY, content TEXT NOT NULL);
INSERT INTO "documents" VALUES('ab90b11836e7dd5814b9004fa89a58c1e27634273c0b58300be9736e05014c80','stays');
INSERT INTO "documents" VALUES('140bedbf9c3f6d56a9846d2ba7088798683f4da0c248231336e6a05679e4fdfe','none');
INSERT INTO "documents" VALUES('890a4dfbdc8fad95f1dcd0e599a696553328d2e9fbde660f9755ae379fa227ed','1 2 4 5');
CREATE TABLE evaluations (
        run_id TEXT NOT NULL REFERENCES runs (id),
        tree TEXT NOT NULL,
        case_id TEXT NOT NULL,
        failed INTEGER NOT NULL,
        evaluation TEXT NOT NULL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (run_id, tree, case_id)
    );
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d','train-3',1,'{"case_id":"train-3","output":null,"output_kind":null,"score":null,"error":{"kind":"raised","message":"KeyError: ''no rule for 3''","traceback":"Traceback (most recent call last):\n  File \".beaker/golden_integration.py\", line 25, in run_case\n    raise KeyError(\"no rule for 3\")\nKeyError: ''no rule for 3''\n"},"duration_ms":0.3057240000998718,"attempts":1,"trace":null}','2026-11-30T17:37:53.202207Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d','train-4',0,'{"case_id":"train-4","output":"none","output_kind":"text","score":{"objective":0.25,"field_scores":{"n":0.25},"field_diffs":[{"field":"n","predicted":"none","expected":4}],"checks":[{"name":"found","verdict":0.25,"expected":4,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.1279699999940931,"attempts":1,"trace":null}','2026-11-30T17:37:53.768395Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d','train-1',0,'{"case_id":"train-1","output":"none","output_kind":"text","score":{"objective":0.25,"field_scores":{"n":0.25},"field_diffs":[{"field":"n","predicted":"none","expected":1}],"checks":[{"name":"found","verdict":0.25,"expected":1,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.16602600044279825,"attempts":1,"trace":null}','2026-11-30T17:37:53.768798Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d','train-2',0,'{"case_id":"train-2","output":"none","output_kind":"text","score":{"objective":0.25,"field_scores":{"n":0.25},"field_diffs":[{"field":"n","predicted":"none","expected":2}],"checks":[{"name":"found","verdict":0.25,"expected":2,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.12449499990907498,"attempts":1,"trace":null}','2026-11-30T17:37:53.768934Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892','train-1',0,'{"case_id":"train-1","output":"1 2 4 5","output_kind":"text","score":{"objective":1.0,"field_scores":{"n":1.0},"field_diffs":[{"field":"n","predicted":"1 2 4 5","expected":1}],"checks":[{"name":"found","verdict":1.0,"expected":1,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.1606679998076288,"attempts":1,"trace":null}','2026-11-30T17:37:54.012362Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892','train-2',0,'{"case_id":"train-2","output":"1 2 4 5","output_kind":"text","score":{"objective":1.0,"field_scores":{"n":1.0},"field_diffs":[{"field":"n","predicted":"1 2 4 5","expected":2}],"checks":[{"name":"found","verdict":1.0,"expected":2,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.15901599999779137,"attempts":1,"trace":null}','2026-11-30T17:37:54.091179Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892','train-4',0,'{"case_id":"train-4","output":"1 2 4 5","output_kind":"text","score":{"objective":1.0,"field_scores":{"n":1.0},"field_diffs":[{"field":"n","predicted":"1 2 4 5","expected":4}],"checks":[{"name":"found","verdict":1.0,"expected":4,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.13583200052380562,"attempts":1,"trace":null}','2026-11-30T17:37:54.093797Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892','train-3',1,'{"case_id":"train-3","output":null,"output_kind":null,"score":null,"error":{"kind":"raised","message":"KeyError: ''no rule for 3''","traceback":"Traceback (most recent call last):\n  File \".beaker/golden_integration.py\", line 25, in run_case\n    raise KeyError(\"no rule for 3\")\nKeyError: ''no rule for 3''\n"},"duration_ms":0.30730600064998725,"attempts":1,"trace":null}','2026-11-30T17:37:54.095904Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d','test-4',0,'{"case_id":"test-4","output":"none","output_kind":"text","score":{"objective":0.25,"field_scores":{"n":0.25},"field_diffs":[{"field":"n","predicted":"none","expected":4}],"checks":[{"name":"found","verdict":0.25,"expected":4,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.15335700027208077,"attempts":1,"trace":null}','2026-11-30T17:37:54.258625Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892','test-4',0,'{"case_id":"test-4","output":"1 2 4 5","output_kind":"text","score":{"objective":1.0,"field_scores":{"n":1.0},"field_diffs":[{"field":"n","predicted":"1 2 4 5","expected":4}],"checks":[{"name":"found","verdict":1.0,"expected":4,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.13380899963522097,"attempts":1,"trace":null}','2026-11-30T17:37:54.258919Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892','test-5',0,'{"case_id":"test-5","output":"1 2 4 5","output_kind":"text","score":{"objective":1.0,"field_scores":{"n":1.0},"field_diffs":[{"field":"n","predicted":"1 2 4 5","expected":5}],"checks":[{"name":"found","verdict":1.0,"expected":5,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.1283209994653589,"attempts":1,"trace":null}','2026-11-30T17:37:54.259025Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d','test-5',0,'{"case_id":"test-5","output":"none","output_kind":"text","score":{"objective":0.25,"field_scores":{"n":0.25},"field_diffs":[{"field":"n","predicted":"none","expected":5}],"checks":[{"name":"found","verdict":0.25,"expected":5,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.20483499974943697,"attempts":1,"trace":null}','2026-11-30T17:37:54.264490Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d','test-6',0,'{"case_id":"test-6","output":"none","output_kind":"text","score":{"objective":0.25,"field_scores":{"n":0.25},"field_diffs":[{"field":"n","predicted":"none","expected":6}],"checks":[{"name":"found","verdict":0.25,"expected":6,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.13386899991019163,"attempts":1,"trace":null}','2026-11-30T17:37:54.585488Z');
INSERT INTO "evaluations" VALUES('run_7a90c0d591bd8d8f','e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892','test-6',0,'{"case_id":"test-6","output":"1 2 4 5","output_kind":"text","score":{"objective":0.25,"field_scores":{"n":0.25},"field_diffs":[{"field":"n","predicted":"1 2 4 5","expected":6}],"checks":[{"name":"found","verdict":0.25,"expected":6,"predicted":null,"message":null,"group":null,"informational":false,"description":null}]},"error":null,"duration_ms":0.20740800027851947,"attempts":1,"trace":null}','2026-11-30T17:37:54.643416Z');
CREATE TABLE facts (
        run_id TEXT NOT NULL REFERENCES runs (id),
        name TEXT NOT NULL,
        fact TEXT NOT NULL,
        PRIMARY KEY (run_id, name)
    );
INSERT INTO "facts" VALUES('run_7a90c0d591bd8d8f','barren_attempts','0');
INSERT INTO "facts" VALUES('run_7a90c0d591bd8d8f','targets_imported','{"kind":"documents","groups":["playbooks"]}');
INSERT INTO "facts" VALUES('run_7a90c0d591bd8d8f','fingerprint','"def09aa8a7115ed66fb7ed5f04aa58252b078c9fdbad820559ea16335723a7ae"');
INSERT INTO "facts" VALUES('run_7a90c0d591bd8d8f','seed_hashes','["afdb8ffc0c2eb45fb2aaf233014a92b2ad70b2c28ad897afe230cb503f04540a"]');
INSERT INTO "facts" VALUES('run_7a90c0d591bd8d8f','seed_documents','[{"source_id":"2","group":"playbooks","name":"fixed.md","version":null,"editable":false},{"source_id":"1","group":"playbooks","name":"rules.md","version":"1","editable":true}]');
INSERT INTO "facts" VALUES('run_7a90c0d591bd8d8f','settings','{"harness_optimization":{"proposer":"command","command":["python","{project}/propose.py"],"proposer_env":[],"max_rollouts":46,"max_proposals":3,"max_proposals_in_flight":1,"cases_per_process":1,"minibatch_size":3,"selection_fraction":0.5,"score_repeats":1,"seed":0,"timeouts":{"prepare_run":300.0,"load_cases":300.0,"open_candidate":300.0,"run_case":30.0,"score_case":120.0,"proposal":1800.0,"teardown":30.0,"import":60.0}},"max_concurrency":4,"case_retry_limit":2,"test_baseline":true,"extra":{}}');
INSERT INTO "facts" VALUES('run_7a90c0d591bd8d8f','selection','{"cases":4,"shared_with_evidence":true}');
CREATE TABLE launches (
        agent_id TEXT NOT NULL REFERENCES agents (id),
        idempotency_key TEXT NOT NULL,
        body_digest TEXT NOT NULL,
        run_id TEXT NOT NULL REFERENCES runs (id),
        PRIMARY KEY (agent_id, idempotency_key)
    );
INSERT INTO "launches" VALUES('agent_5aa6c23345ce1c85','golden','d0c1818b05cdae8bd9cd67452b2ae01c3440d911451501e9839868c5e057ae7f','run_7a90c0d591bd8d8f');
CREATE TABLE log (
        run_id TEXT NOT NULL REFERENCES runs (id),
        position INTEGER NOT NULL,
        entry TEXT NOT NULL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (run_id, position)
    );
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',0,'{"type":"opened","search_version":1,"settings":{"max_rollouts":46,"max_proposals":3,"max_proposals_in_flight":1,"minibatch_size":3,"selection_fraction":0.5,"seed":0,"test_baseline":true},"train_ids":["train-1","train-2","train-3","train-4"],"test_ids":["test-4","test-5","test-6"],"baseline_tree":"975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d"}','2026-11-30T17:37:52.827427Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',1,'{"type":"evaluate","seq":1,"tree":"975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d","case_ids":["train-2","train-4","train-1","train-3"],"purpose":"selection"}','2026-11-30T17:37:52.827427Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',2,'{"type":"evaluated","seq":1,"objectives":[["train-2",0.25],["train-4",0.25],["train-1",0.25],["train-3",null]]}','2026-11-30T17:37:53.770197Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',3,'{"type":"propose","seq":2,"proposal":1,"parent":0,"parent_tree":"975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d","minibatch":["train-2","train-1"],"evidence":["train-3","train-4"],"seen":0,"rollouts_left":36,"seed":1287151352}','2026-11-30T17:37:53.770197Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',4,'{"type":"proposed","seq":2,"outcome":"child","tree":"e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892","message":"","changed":["playbooks/rules.md"]}','2026-11-30T17:37:53.808156Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',5,'{"type":"evaluate","seq":3,"tree":"e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892","case_ids":["train-2","train-1"],"purpose":"minibatch"}','2026-11-30T17:37:53.808156Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',6,'{"type":"evaluated","seq":3,"objectives":[["train-2",1.0],["train-1",1.0]]}','2026-11-30T17:37:54.092169Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',7,'{"type":"evaluate","seq":4,"tree":"e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892","case_ids":["train-4","train-3"],"purpose":"selection"}','2026-11-30T17:37:54.092169Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',8,'{"type":"evaluated","seq":4,"objectives":[["train-4",1.0],["train-3",null]]}','2026-11-30T17:37:54.096661Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',9,'{"type":"propose","seq":5,"proposal":2,"parent":1,"parent_tree":"e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892","minibatch":["train-3","train-4"],"evidence":["train-1","train-2"],"seen":1,"rollouts_left":32,"seed":1724650838}','2026-11-30T17:37:54.096661Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',10,'{"type":"proposed","seq":5,"outcome":"crashed","tree":null,"message":"the command ended with exit status 1: nothing more to learn","changed":[]}','2026-11-30T17:37:54.184433Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',11,'{"type":"propose","seq":6,"proposal":3,"parent":1,"parent_tree":"e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892","minibatch":["train-1","train-3"],"evidence":["train-4","train-2"],"seen":2,"rollouts_left":32,"seed":245558422}','2026-11-30T17:37:54.184433Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',12,'{"type":"proposed","seq":6,"outcome":"crashed","tree":null,"message":"the command ended with exit status 1: nothing more to learn","changed":[]}','2026-11-30T17:37:54.252562Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',13,'{"type":"evaluate","seq":7,"tree":"e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892","case_ids":["test-4","test-5","test-6"],"purpose":"test"}','2026-11-30T17:37:54.252562Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',14,'{"type":"evaluate","seq":8,"tree":"975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d","case_ids":["test-4","test-5","test-6"],"purpose":"test"}','2026-11-30T17:37:54.252562Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',15,'{"type":"evaluated","seq":7,"objectives":[["test-4",1.0],["test-5",1.0],["test-6",0.25]]}','2026-11-30T17:37:54.648918Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',16,'{"type":"evaluated","seq":8,"objectives":[["test-4",0.25],["test-5",0.25],["test-6",0.25]]}','2026-11-30T17:37:54.648918Z');
INSERT INTO "log" VALUES('run_7a90c0d591bd8d8f',17,'{"type":"finish","seq":9,"reason":"proposals","message":""}','2026-11-30T17:37:54.648918Z');
CREATE TABLE productions (
        agent_id TEXT NOT NULL REFERENCES agents (id),
        name TEXT NOT NULL,
        artifact_id TEXT NOT NULL REFERENCES artifacts (id),
        promoted_at TEXT NOT NULL,
        PRIMARY KEY (agent_id, name)
    );
INSERT INTO "productions" VALUES('agent_5aa6c23345ce1c85','numbers','art_1cd66b0edc58c1f2','2026-11-30T17:37:51.862058Z');
CREATE TABLE proposals (
        run_id TEXT NOT NULL REFERENCES runs (id),
        seq INTEGER NOT NULL,
        result TEXT NOT NULL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)
    );
INSERT INTO "proposals" VALUES('run_7a90c0d591bd8d8f',2,'{"proposal":1,"outcome":"child","tree":"e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892","message":"","changed":["playbooks/rules.md"],"stdout":"tried 0\n","stderr":""}','2026-11-30T17:37:53.807341Z');
INSERT INTO "proposals" VALUES('run_7a90c0d591bd8d8f',5,'{"proposal":2,"outcome":"crashed","tree":null,"message":"the command ended with exit status 1: nothing more to learn","changed":[],"stdout":"tried 1\n","stderr":"nothing more to learn\n"}','2026-11-30T17:37:54.184033Z');
INSERT INTO "proposals" VALUES('run_7a90c0d591bd8d8f',6,'{"proposal":3,"outcome":"crashed","tree":null,"message":"the command ended with exit status 1: nothing more to learn","changed":[],"stdout":"tried 2\n","stderr":"nothing more to learn\n"}','2026-11-30T17:37:54.252273Z');
CREATE TABLE runs (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        agent_id TEXT NOT NULL REFERENCES agents (id),
        status TEXT NOT NULL,
        created_at TEXT NOT NULL,
        started_at TEXT,
        completed_at TEXT,
        finish_reason TEXT,
        error_message TEXT,
        cancelled INTEGER NOT NULL DEFAULT 0,
        repository TEXT NOT NULL,
        checkout TEXT,
        ref TEXT NOT NULL,
        commit_id TEXT NOT NULL,
        integration_id TEXT NOT NULL,
        entry TEXT NOT NULL,
        source TEXT NOT NULL,
        dataset_id TEXT NOT NULL REFERENCES artifacts (id),
        dataset TEXT NOT NULL,
        targets TEXT,
        config TEXT NOT NULL,
        settings TEXT NOT NULL,
        trigger_metadata TEXT NOT NULL,
        trigger_reason TEXT,
        warnings TEXT NOT NULL,
        progress TEXT,
        result TEXT,
        attempts INTEGER NOT NULL DEFAULT 0
    );
INSERT INTO "runs" VALUES(1,'run_7a90c0d591bd8d8f','agent_5aa6c23345ce1c85','COMPLETED','2026-11-30T17:37:51.945565Z','2026-11-30T17:37:52.189850Z','2026-11-30T17:37:54.970367Z','proposals',NULL,0,'local/project','/project','HEAD','e7f564f92dd6b40a73e3cb03628b6de5fcdc19ae','demo','{"id":"demo","entrypoint":"golden_integration:integration","source_dir":".","package_import_root":".beaker","required_env":[],"agent_key":null,"environment_base":null,"pip_install_from":null,"pip_install":[],"apt_install":[],"targets":{"kind":"documents","groups":["playbooks"]},"scorer_model":null,"requires_scorer_model":false,"config_defaults":{},"misplaced_selectors":[],"problems":[]}','db4473ba2409cca2830a8b3afb16ebb58981f9aa44f57f182e9cf7646b90a15b','art_1cd66b0edc58c1f2','{"name":"numbers","revision":"sha256:89b7ce73a54657c2fa1b9c1ec4315358f3ecb1a64e4c6bb0ec200c3000279db4","split_row_counts":{"train":4,"test":3}}','{"kind":"documents","groups":["playbooks"]}','{"harness_optimization":{"command":["python","{project}/propose.py"],"max_proposals":3,"timeouts":{"run_case":30}}}','{"harness_optimization":{"proposer":"command","command":["python","{project}/propose.py"],"proposer_env":[],"max_rollouts":null,"max_proposals":3,"max_proposals_in_flight":1,"cases_per_process":1,"minibatch_size":3,"selection_fraction":0.5,"score_repeats":1,"seed":0,"timeouts":{"prepare_run":300.0,"load_cases":300.0,"open_candidate":300.0,"run_case":30.0,"score_case":120.0,"proposal":1800.0,"teardown":30.0,"import":60.0}},"max_concurrency":4,"case_retry_limit":2,"test_baseline":true,"extra":{}}','{}',NULL,'[]','{"rollouts":{"issued":14,"limit":46},"proposals":{"made":3,"accepted":1,"rejected":0,"failed":2,"limit":3},"best":{"candidate":1,"train":0.75}}','{"baseline_id":"run_7a90c0d591bd8d8f.0","winner_id":"run_7a90c0d591bd8d8f.1","test":{"baseline":0.25,"winner":0.75,"difference":0.5,"low":0.0,"high":0.75,"n":3,"failed_baseline":0,"failed_winner":0,"method":"95 % interval of the paired bootstrap over 3 pairs, 10,000 resamples, percentiles 2.5 and 97.5"}}',1);
INSERT INTO "runs" VALUES(2,'run_17ff5dd40ecd7aa2','agent_5aa6c23345ce1c85','CANCELLED','2026-11-30T17:37:55.277882Z',NULL,'2026-11-30T17:37:55.284640Z','cancelled',NULL,1,'local/project','/project','HEAD','e7f564f92dd6b40a73e3cb03628b6de5fcdc19ae','demo','{"id":"demo","entrypoint":"golden_integration:integration","source_dir":".","package_import_root":".beaker","required_env":[],"agent_key":null,"environment_base":null,"pip_install_from":null,"pip_install":[],"apt_install":[],"targets":{"kind":"documents","groups":["playbooks"]},"scorer_model":null,"requires_scorer_model":false,"config_defaults":{},"misplaced_selectors":[],"problems":[]}','db4473ba2409cca2830a8b3afb16ebb58981f9aa44f57f182e9cf7646b90a15b','art_1cd66b0edc58c1f2','{"name":"numbers","revision":"sha256:89b7ce73a54657c2fa1b9c1ec4315358f3ecb1a64e4c6bb0ec200c3000279db4","split_row_counts":{"train":4,"test":3}}','{"kind":"documents","groups":["playbooks"]}','{"harness_optimization":{"command":["python","{project}/propose.py"],"max_proposals":3,"timeouts":{"run_case":30}}}','{"harness_optimization":{"proposer":"command","command":["python","{project}/propose.py"],"proposer_env":[],"max_rollouts":null,"max_proposals":3,"max_proposals_in_flight":1,"cases_per_process":1,"minibatch_size":3,"selection_fraction":0.5,"score_repeats":1,"seed":0,"timeouts":{"prepare_run":300.0,"load_cases":300.0,"open_candidate":300.0,"run_case":30.0,"score_case":120.0,"proposal":1800.0,"teardown":30.0,"import":60.0}},"max_concurrency":4,"case_retry_limit":2,"test_baseline":true,"extra":{}}','{}',NULL,'[]',NULL,NULL,0);
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO "schema_version" VALUES(1);
CREATE TABLE trees (
        run_id TEXT NOT NULL REFERENCES runs (id),
        digest TEXT NOT NULL,
        manifest TEXT NOT NULL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (run_id, digest)
    );
INSERT INTO "trees" VALUES('run_7a90c0d591bd8d8f','975ff56fd95be9840964c73e7828c3720c03c8fe51a7bce7c0845b5e9d72935d','{"documents":{"playbooks":{"fixed.md":"ab90b11836e7dd5814b9004fa89a58c1e27634273c0b58300be9736e05014c80","rules.md":"140bedbf9c3f6d56a9846d2ba7088798683f4da0c248231336e6a05679e4fdfe"}}}','2026-11-30T17:37:52.821837Z');
INSERT INTO "trees" VALUES('run_7a90c0d591bd8d8f','e001eface5b96b4e8d7a96bea6eb61d004ba327207722871e5a8a91d8766a892','{"documents":{"playbooks":{"fixed.md":"ab90b11836e7dd5814b9004fa89a58c1e27634273c0b58300be9736e05014c80","rules.md":"890a4dfbdc8fad95f1dcd0e599a696553328d2e9fbde660f9755ae379fa227ed"}}}','2026-11-30T17:37:53.807116Z');
CREATE INDEX artifacts_with_content ON artifact_files (sha256);
CREATE INDEX runs_of_agent ON runs (agent_id, position);
CREATE INDEX failures_of_run ON evaluations (run_id, failed);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('artifacts',1);
INSERT INTO "sqlite_sequence" VALUES('runs',2);
COMMIT;
