import { readFileSync } from 'node:fs';
import { type RequestHandler, Router } from 'express';
import type { Endpoint } from '../endpoint.ts';
import { rejectOtherMethods } from '../http/router.ts';
import { pageSecurityHeaders } from '../http/security-headers.ts';
import { createSharedAnswer, type SharedAnswer } from '../http/shared-answer.ts';
import { openApiDocument, openDocumentText } from './document.ts';
import { htmlOf, markdownOf, pages } from './guide.ts';

/** Makes the response at the first request, because most processes never get one. */
function shared(make: () => SharedAnswer): RequestHandler {
  let answer: SharedAnswer | undefined;
  return (req, res) => {
    answer ??= make();
    answer.send(req, res);
  };
}

const text = (make: () => string, type: string) => shared(() => createSharedAnswer(Buffer.from(make()), type));

/** Serves a file of assets/ from memory. A stream would leave the file open while a client does not read. */
const asset = (name: string, type: string) =>
  shared(() => createSharedAnswer(readFileSync(`${import.meta.dirname}/assets/${name}`), type));

/** Serves the script of 4 MB as it is stored, in gzip, because compressing it in each process takes too long. */
const gzipped: RequestHandler = (_req, res, next) => {
  res.set('Content-Encoding', 'gzip');
  next();
};

/** Redirects an address with a slash at its end, because the pages have relative links. */
const withoutSlash: RequestHandler = (req, res, next) => {
  const name = /([^/]+)\/$/.exec(req.path)?.[1];
  if (name === undefined) next();
  else res.redirect(301, `../${name}`);
};

/**
 * Serves the document at /openapi.json and, without enumerations, at /openapi-open.json, the reference at /docs, and
 * the guide at /docs/guide and, as Markdown, at /docs/guide.md. They are not part of the contract, but limits and 405
 * apply to them.
 */
export function docsRouter(endpoints: readonly Endpoint[]): Router {
  const router = Router({ caseSensitive: true });
  router.use(['/docs', '/openapi.json', '/openapi-open.json'], (req, res, next) => {
    res.set('Cache-Control', 'private, no-cache');
    delete req.headers['cache-control']; // otherwise Express never answers 304 to browsers that send no-cache
    next();
  });
  router.use('/docs', pageSecurityHeaders);
  const handlers = {
    '/openapi.json': [shared(() => createSharedAnswer(openApiDocument(endpoints)))],
    '/openapi-open.json': [text(() => openDocumentText(openApiDocument(endpoints)), 'json')],
    '/docs': [asset('page.html', 'html')],
    ...Object.fromEntries(pages.map((page) => [`/docs/${page}`, [text(() => htmlOf(page), 'html')]])),
    ...Object.fromEntries(pages.map((page) => [`/docs/${page}.md`, [text(() => markdownOf(page), 'md')]])),
    '/docs/llms.txt': [asset('llms.txt', 'txt')],
    '/docs/start.js': [asset('start.js', 'js')],
    '/docs/scalar.js': [gzipped, asset('scalar.js.gz', 'js')],
  };
  for (const [path, handler] of Object.entries(handlers))
    rejectOtherMethods(router.route(path).get(withoutSlash, ...handler), ['GET', 'HEAD']);
  return router;
}
