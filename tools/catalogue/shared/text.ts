const MEGABYTE = 1024 * 1024;

/** Formats bytes in the unit of the dashboard, where a bucket of 52,428,800 bytes accepts 50 MB. */
export const megabytes = (bytes: number) => `${(bytes / MEGABYTE).toFixed(1)} MB`;

export const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
