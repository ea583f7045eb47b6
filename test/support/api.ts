import request, { type Response, type Test } from 'supertest';
import { expect } from 'vitest';
import { reasonsOfCode } from '../../src/errors.ts';
import { departures } from '../openapi/departures.ts';
import { noteSecret, noteSecretsOf } from './secrets.ts';

/** For `.auth(token, bearer)`, with an access token or an API key. */
export const bearer = { type: 'bearer' } as const;

const codeOfStatus: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized',
  404: 'not_found',
  405: 'invalid_request',
  429: 'rate_limited',
  500: 'server_error',
};

/** Expects the parts of every response: a request id, the rate-limit headers, and JSON or nothing. */
export function expectCommonParts({ status, headers, text, body }: Response) {
  expect(headers['x-request-id']).toMatch(/^[\w.:-]{1,128}$/);
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(headers[`x-ratelimit-${name}`], `X-RateLimit-${name} of a ${status}`).toMatch(/^\d+$/);
  }
  const ofCode: Record<string, object> = reasonsOfCode;
  const reasons = Object.keys(ofCode[codeOfStatus[status] ?? ''] ?? { undefined });
  expect(reasons, `X-Error-Reason of a ${status}`).toContain(String(headers['x-error-reason']));
  if (status < 400 && headers['cache-control'] === 'no-store') expect(headers).not.toHaveProperty('etag');
  if (!text) {
    expect(body).toEqual({}); // supertest's body of an empty answer; a binary one has no text either
    return;
  }
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  if (status >= 400) {
    expect(body).toEqual({ error: { code: codeOfStatus[status], message: expect.stringMatching(/\.$/) } });
  }
}

function expectDocumented({ request: { method, url }, status, headers, text, body }: Response) {
  const path = new URL(url).pathname.split('/api/v1', 2)[1];
  if (path) {
    expect(departures(method, path, { status, headers, body: text ? body : undefined })).toEqual([]);
  }
}

/** A plugin for superagent: checks the answer and notes the secrets that were exchanged. */
export const checked = (test: Test) =>
  void test
    .expect(({ request, body }) => {
      noteSecret(request.get('Authorization')?.replace(/^bearer +/i, ''));
      for (const exchanged of [request.toJSON().data, body.data]) noteSecretsOf(exchanged);
    })
    .expect(expectCommonParts)
    .expect(expectDocumented);

/**
 * A client of a gateway. Beyond what a test expects, every answer must have the parts that all answers have and agree
 * with the OpenAPI document, and every credential is noted, so that the gateway's log can be searched for it.
 * @param url of the gateway, with the version prefix
 */
export const apiAt = (url: string) => request.agent(url).use(checked);

export type Api = ReturnType<typeof apiAt>;
