const MEGABYTE = 1024 * 1024;

/** A number of bytes in the unit of the dashboard, in which a bucket of 52,428,800 bytes accepts 50 MB. */
export const megabytes = (bytes: number) => `${(bytes / MEGABYTE).toFixed(1)} MB`;
