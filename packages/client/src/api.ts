import type { Client } from 'openapi-fetch';
import type { paths } from './document.types.ts';
import { type IsAnswer, isAnswerTo } from './shape.ts';

/** Functions that call the operations of the OpenAPI document. */
export type Api = Client<paths>;

/** Sends a request. Rejects unless the status of the response is 2xx and its body is an answer. */
type Send = (request: Request, isAnswer: IsAnswer) => Promise<Response>;

interface Init {
  params?: { path?: Record<string, string>; query?: Record<string, unknown> };
  body?: unknown;
  signal?: AbortSignal | null;
  keepalive?: boolean;
}

/**
 * Creates functions that call the operations of the OpenAPI document. Uses only the types of openapi-fetch, because its
 * code is a quarter of what this package would add to an app.
 */
export function createApi(url: string, send: Send): Api {
  const call =
    (method: string) =>
    async (path: string, { params = {}, body, signal = null, keepalive = false }: Init = {}) => {
      const named = path.replace(/{(\w+)}/g, (_, name) => encodeURIComponent(params.path?.[name] ?? ''));
      const query = Object.entries(params.query ?? {}).flatMap(([name, values]) =>
        [values]
          .flat()
          .filter((value) => value !== undefined)
          .map((value) => `${name}=${encodeURIComponent(value as string)}`),
      );
      const request = new Request(`${url}${named}${query.length > 0 ? `?${query.join('&')}` : ''}`, {
        method,
        signal,
        keepalive,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
      });
      const response = await send(request, (found) => isAnswerTo(`${method} ${path}`, found));
      return { data: await response.json() };
    };
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  return Object.fromEntries(methods.map((method) => [method, call(method)])) as unknown as Api;
}
