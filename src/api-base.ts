/** What the path of every endpoint begins with. */
export const apiBase = '/api/v1';
