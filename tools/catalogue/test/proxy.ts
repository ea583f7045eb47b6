import { inject } from 'vitest';
import { type Decide, type ProxiedRequest, startNetwork } from '../../../test/support/network.ts';

/** Starts a proxy in front of Supabase; see startNetwork. */
export async function startFaultyProxy(decide: Decide, after?: Decide) {
  const { apiUrl, secretKey } = inject('stack');
  const { url, passed } = await startNetwork(apiUrl, decide, after);
  return { apiUrl: url, secretKey, passed };
}

export const isUpload = ({ method, path }: ProxiedRequest) =>
  method === 'POST' && path.startsWith('/storage/v1/object/') && !path.includes('/list/');

export const isPart = ({ method, path }: ProxiedRequest) =>
  method === 'PATCH' && path.startsWith('/storage/v1/upload/resumable');

export const isSoundWrite = ({ method, path }: ProxiedRequest) =>
  method !== 'GET' && path.startsWith('/rest/v1/sounds');

export const isImportRecord = ({ method, path }: ProxiedRequest) =>
  method !== 'GET' && path.startsWith('/rest/v1/imported_sounds');
