BEGIN TRANSACTION;
CREATE TABLE claims (
	"key" VARCHAR(64) NOT NULL, 
	run VARCHAR(16) NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE evaluations (
	id INTEGER NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	submission VARCHAR(80) NOT NULL, 
	submission_digest VARCHAR(64) NOT NULL, 
	is_baseline BOOLEAN NOT NULL, 
	task VARCHAR(200) NOT NULL, 
	model VARCHAR(200) NOT NULL, 
	model_digest VARCHAR(64) NOT NULL, 
	data_digest VARCHAR(64) NOT NULL, 
	repeat INTEGER NOT NULL, 
	outcome VARCHAR(32) NOT NULL, 
	value FLOAT, 
	message TEXT NOT NULL, 
	startup_wall_s FLOAT NOT NULL, 
	load_wall_s FLOAT NOT NULL, 
	load_cpu_s FLOAT NOT NULL, 
	call_wall_s FLOAT NOT NULL, 
	call_cpu_s FLOAT NOT NULL, 
	peak_memory_bytes BIGINT NOT NULL, 
	time_limit_s FLOAT NOT NULL, 
	time_budget VARCHAR(16) NOT NULL, 
	memory_limit_bytes BIGINT NOT NULL, 
	configuration VARCHAR(12) NOT NULL, 
	run_seed BIGINT NOT NULL, 
	seed BIGINT NOT NULL, 
	runtime VARCHAR(16) NOT NULL, 
	sandbox VARCHAR(32) NOT NULL, 
	versions TEXT NOT NULL, 
	harness_version VARCHAR(32) NOT NULL, 
	loader VARCHAR(64) NOT NULL, 
	environment JSON NOT NULL, 
	output_tail TEXT NOT NULL, 
	started_at DATETIME NOT NULL, 
	finished_at DATETIME NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "evaluations" VALUES(1,'0437701075fc28877c075b09a9e48112c2ecfac1aacb102150f87526270a7fb4','margin','d1',0,'toy','model_0','m0','t0',0,'OK',3.0,'',2.5,0.5,3.0,1.5,1.25,700000000,300.0,'each',4294967296,'ca307a2fe27d',0,0,'tensorflow','bubblewrap','keras 3.12.0, numpy 2.3.5','0.1.0','','{}','','2026-01-01 12:00:00.000000','2026-01-01 12:00:05.000000');
INSERT INTO "evaluations" VALUES(2,'e9b9cdfd900253f5187494611db68ffc7ac425225b82795c5792a1bbb2f61eac','margin','d1',0,'toy','model_1','m0','t0',0,'OK',1.0,'',2.5,0.5,3.0,1.5,1.25,700000000,300.0,'each',4294967296,'ca307a2fe27d',0,0,'tensorflow','bubblewrap','keras 3.12.0, numpy 2.3.5','0.1.0','','{}','','2026-01-01 12:00:00.000000','2026-01-01 12:00:05.000000');
INSERT INTO "evaluations" VALUES(3,'a7a160e263b99be0c1472d4e949563e642500cdf2cf3dc4e4c30610e6c428e1c','margin','d1',0,'toy','model_2','m0','t0',0,'OK',4.0,'',2.5,0.5,3.0,1.5,1.25,700000000,300.0,'each',4294967296,'ca307a2fe27d',0,0,'tensorflow','bubblewrap','keras 3.12.0, numpy 2.3.5','0.1.0','','{}','','2026-01-01 12:00:00.000000','2026-01-01 12:00:05.000000');
INSERT INTO "evaluations" VALUES(4,'dc1a69577e49a0cbb293b80e1acd3aff586421548c314c73bf3aa7695408de04','margin','d1',0,'toy','model_3','m0','t0',0,'OK',1.0,'',2.5,0.5,3.0,1.5,1.25,700000000,300.0,'each',4294967296,'ca307a2fe27d',0,0,'tensorflow','bubblewrap','keras 3.12.0, numpy 2.3.5','0.1.0','','{}','','2026-01-01 12:00:00.000000','2026-01-01 12:00:05.000000');
INSERT INTO "evaluations" VALUES(5,'6d1fb9ccf50d1b70808a4cf661b049d6237cac9dca8a45d402f0d04021d25504','margin','d1',0,'toy','model_4','m0','t0',0,'OK',5.0,'',2.5,0.5,3.0,1.5,1.25,700000000,300.0,'each',4294967296,'ca307a2fe27d',0,0,'tensorflow','bubblewrap','keras 3.12.0, numpy 2.3.5','0.1.0','','{}','','2026-01-01 12:00:00.000000','2026-01-01 12:00:05.000000');
INSERT INTO "evaluations" VALUES(6,'bebeca2bbca77786621bc84195d6539abe853cd0d5228ab95ccf84161f35ca3c','margin','d1',0,'toy','model_5','m0','t0',0,'OK',9.0,'',2.5,0.5,3.0,1.5,1.25,700000000,300.0,'each',4294967296,'ca307a2fe27d',0,0,'tensorflow','bubblewrap','keras 3.12.0, numpy 2.3.5','0.1.0','','{}','','2026-01-01 12:00:00.000000','2026-01-01 12:00:05.000000');
INSERT INTO "evaluations" VALUES(7,'86d2fed097bada34b87ff4bf0f672a89d8914168c614e09858a9a25ae585170f','margin','d1',0,'toy','model_6','m0','t0',0,'OK',2.0,'',2.5,0.5,3.0,1.5,1.25,700000000,300.0,'each',4294967296,'ca307a2fe27d',0,0,'tensorflow','bubblewrap','keras 3.12.0, numpy 2.3.5','0.1.0','','{}','','2026-01-01 12:00:00.000000','2026-01-01 12:00:05.000000');
INSERT INTO "evaluations" VALUES(8,'56e5fa8fc3ed216465dcf1dabd38fd3e9afeb820f2811afdbe223b1c1851816a','margin','d1',0,'toy','model_7','m0','t0',0,'OK',6.0,'',2.5,0.5,3.0,1.5,1.25,700000000,300.0,'each',4294967296,'ca307a2fe27d',0,0,'tensorflow','bubblewrap','keras 3.12.0, numpy 2.3.5','0.1.0','','{}','','2026-01-01 12:00:00.000000','2026-01-01 12:00:05.000000');
CREATE TABLE requests (
	id INTEGER NOT NULL, 
	submission VARCHAR(80) NOT NULL, 
	submission_digest VARCHAR(64) NOT NULL, 
	source TEXT NOT NULL, 
	is_baseline BOOLEAN NOT NULL, 
	task VARCHAR(200) NOT NULL, 
	configuration VARCHAR(12) NOT NULL, 
	settings TEXT NOT NULL, 
	deterministic BOOLEAN NOT NULL, 
	requested_at DATETIME NOT NULL, 
	merged_at DATETIME, 
	PRIMARY KEY (id)
);
INSERT INTO "requests" VALUES(1,'margin','d1','/home/a/margin',0,'toy','ca307a2fe27d','{"run_seed": 0, "runtime": "tensorflow", "time_limit_s": 300.0, "time_budget": "each", "memory_limit_bytes": 4294967296, "isolation": "bubblewrap", "versions": "keras 3.12.0, numpy 2.3.5", "harness_version": "0.1.0", "loader": ""}',0,'2026-01-02 03:04:00.000000',NULL);
CREATE TABLE runs (
	id VARCHAR(16) NOT NULL, 
	place VARCHAR(12) NOT NULL, 
	process INTEGER NOT NULL, 
	started VARCHAR(24) NOT NULL, 
	beats INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_claims_run ON claims (run);
CREATE INDEX ix_evaluations_submission ON evaluations (submission);
CREATE INDEX ix_evaluations_task ON evaluations (task);
CREATE INDEX ix_evaluations_key ON evaluations ("key");
CREATE INDEX ix_requests_submission ON requests (submission);
COMMIT;
