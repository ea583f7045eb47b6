import { fileURLToPath } from 'node:url';
import { measureFunctions } from './database.ts';
import { measureEmbedded } from './embedded.ts';
import { measureEndurance } from './endurance.ts';
import { start } from './processes.ts';
import { createReport } from './report.ts';
import { measureCatalogue, measureLatency, measurePersonal } from './throughput.ts';
import { createUsers } from './users.ts';

// `npm run bench`: what the gateway costs, in ratios. This process makes the load; README.md tells the rest.

/** It takes about a quarter of an hour; whatever hangs does not hang for good. The processes that it started end with it. */
const limitMs = 25 * 60_000;
setTimeout(() => {
  console.error('The benchmark took too long and was given up.');
  process.exit(1);
}, limitMs).unref();

const report = createReport(fileURLToPath(new URL('results.md', import.meta.url)));
const users = await createUsers(1_000);
const stub = await start('bench/stub.ts');

report.add(await measureCatalogue(stub, users));
report.add(await measurePersonal(stub, users));
report.add(await measureLatency(users));
report.add(await measureEmbedded(users));
report.add(await measureFunctions());
report.add(await measureEndurance(stub, users));
await stub.stop();
report.write();
