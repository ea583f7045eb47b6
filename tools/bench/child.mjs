// Preloaded by every server of the benchmark: ends it with the benchmark, and reports its resource usage.

process.on('disconnect', () => process.exit());
process.on('message', () => process.send?.(process.resourceUsage()));
