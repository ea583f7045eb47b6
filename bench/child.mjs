// Loaded into every server of the benchmark before its own code: it ends with the benchmark, and tells its peak memory.

process.on('disconnect', () => process.exit());
process.on('message', () => process.send?.(process.resourceUsage().maxRSS * 1024));
