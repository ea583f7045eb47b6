// Loaded into every server of the benchmark before its own code: it ends with the benchmark, and tells what it has used.

process.on('disconnect', () => process.exit());
process.on('message', () => process.send?.(process.resourceUsage()));
