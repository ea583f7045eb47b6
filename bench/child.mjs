// Loaded into every process of a benchmark before its own code: it ends with the benchmark, and tells what it has used.
// JavaScript, since reading TypeScript would take memory in the process that is measured.

process.on('disconnect', () => process.exit());
process.on('message', () => process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() }));
