import type { RequestListener } from 'node:http';
import { expect } from 'vitest';
import { apiAt } from './api.ts';
import { departures } from './document.ts';
import { withSupabase as withApi } from './fake-supabase.ts';
import type { Gateway } from './gateway.ts';
import { noteSecret, noteSecretsOf } from './secrets.ts';
import { test as base, type Session, signUp } from './test.ts';

// For tests that do not use supertest yet; delete this file with its last import.

/** An answer of the gateway; its body is what a client would read. */
export type Answer<T> = { status: number; headers: Headers; body: T };

type Options = { token?: string; body?: unknown; headers?: Record<string, string> };

const codeOfStatus: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized',
  404: 'not_found',
  405: 'invalid_request',
  429: 'rate_limited',
  500: 'server_error',
};

/**
 * What every answer owes its client, whatever it says: id, rate-limit headers, JSON, the error envelope. This alone is
 * for answers that the document leaves out, as those to plain HTTP; others are read with readAnswer.
 */
export async function readUndocumented<T>(response: Response): Promise<Answer<T>> {
  const { status, headers } = response;
  expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/);
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(headers.get(`x-ratelimit-${name}`), `X-RateLimit-${name} of a ${status}`).toMatch(/^\d+$/);
  }
  const text = await response.text();
  if (text === '') return { status, headers, body: undefined as T };
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(text);
  if (status >= 400) {
    expect(body).toEqual({ error: { code: codeOfStatus[status], message: expect.stringMatching(/\.$/) } });
  }
  return { status, headers, body };
}

/** Reads an answer, which must be one that the document allows if it comes from an endpoint. */
export async function readAnswer<T>(response: Response, method = 'GET'): Promise<Answer<T>> {
  const answer = await readUndocumented<T>(response);
  const path = URL.canParse(response.url) && new URL(response.url).pathname.split('/api/v1', 2)[1];
  if (path) {
    const headers = Object.fromEntries(answer.headers);
    expect(departures(method, path, { ...answer, headers })).toEqual([]);
  }
  return answer;
}

/** Calls the gateway as an app would. */
export async function call<T = unknown>(
  url: string,
  method: string,
  path: string,
  { token, body, headers = {} }: Options = {},
): Promise<Answer<T>> {
  noteSecret(token);
  noteSecretsOf(body);
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const answer = await readAnswer<T>(response, method);
  noteSecretsOf((answer.body as { data?: unknown } | undefined)?.data);
  return answer;
}

type Call = <T = unknown>(path: string, options?: Parameters<typeof call>[3]) => Promise<Answer<T>>;

export type Api = {
  url: string;
  get: Call;
  post: Call;
};

export function apiOf(gateway: Pick<Gateway, 'url'>): Api {
  return {
    url: gateway.url,
    get: (path, options) => call(gateway.url, 'GET', path, options),
    post: (path, options) => call(gateway.url, 'POST', path, options),
  };
}

export const test = base.extend<{ $file: { api: Api; user: Session } }>({
  api: [({ gateway }, use) => use(apiOf(gateway)), { scope: 'file' }],
  user: [async ({ gateway }, use) => use(await signUp(apiAt(gateway.url))), { scope: 'file' }],
});

export const withSupabase = (
  behave: RequestListener,
  check: (api: Api, gateway: Gateway) => Promise<void>,
  env: Record<string, string> = {},
) => withApi(behave, (_api, gateway) => check(apiOf(gateway), gateway), env);
