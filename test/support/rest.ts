import { inject } from 'vitest';

/**
 * Calls the data API of Supabase directly, without the gateway.
 * @param token token of a user, null for only the publishable key, or 'service' for the secret key
 */
export async function rest(
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const { apiUrl, publishableKey, secretKey } = inject('stack');
  const apikey = token === 'service' ? secretKey : publishableKey;
  const response = await fetch(`${apiUrl}/rest/v1/${path}`, {
    method,
    headers: {
      apikey,
      Authorization: `Bearer ${token === null || token === 'service' ? apikey : token}`,
      'Content-Type': 'application/json',
      Prefer: 'return=representation',
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}
