import { inject } from 'vitest';
import { type Decide, type ProxiedRequest, startNetwork } from '../../../test/support/network.ts';

/** Starts a proxy in front of Supabase; see startNetwork. */
export async function startFaultyProxy(decide: Decide, after?: Decide) {
  const { apiUrl, secretKey } = inject('stack');
  const { url, passed } = await startNetwork(apiUrl, decide, after);
  return { apiUrl: url, secretKey, passed };
}

/** Returns a filter for requests with a matching method and path. */
const are = (methods: RegExp, path: RegExp) => (request: ProxiedRequest) =>
  methods.test(request.method) && path.test(request.path);

export const isUpload = are(/^POST$/, /^\/storage\/v1\/object\/(?!list\/)/);
export const isPart = are(/^PATCH$/, /^\/storage\/v1\/upload\/resumable/);
export const isDownload = are(/^GET$/, /^\/storage\/v1\/object\/(authenticated\/)?(audio|covers)\//);
export const isSoundWrite = are(/^(?!GET)/, /^\/rest\/v1\/sounds/);
export const isImportRecord = are(/^(?!GET)/, /^\/rest\/v1\/imported_sounds/);
