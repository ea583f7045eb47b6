import { type RequestHandler, Router } from 'express';
import { rejectOtherMethods } from '../http/router.ts';
import { pageSecurityHeaders } from '../http/security-headers.ts';
import { SharedAnswer } from '../http/shared-answer.ts';
import type { OpenApiDocument } from './document.ts';

/** A file of assets/. */
const file =
  (name: string): RequestHandler =>
  (_req, res) => {
    res.sendFile(name, { root: `${import.meta.dirname}/assets`, cacheControl: false, acceptRanges: false });
  };

/**
 * The document at /openapi.json, the interactive reference at /docs, and the guide at /docs/guide. They are no endpoints of the contract, so the
 * document does not describe them; like every address they are counted and answer other methods with 405.
 */
export function docsRouter(document: OpenApiDocument): Router {
  const router = Router({ caseSensitive: true });
  let answer: SharedAnswer | undefined; // made when somebody asks for it: most processes are never asked

  router.use(['/docs', '/openapi.json'], (req, res, next) => {
    res.set('Cache-Control', 'private, no-cache');
    delete req.headers['cache-control']; // as for endpoints: a copy that is still right is a 304
    next();
  });
  router.use('/docs', pageSecurityHeaders);
  router.get('/openapi.json', (req, res) => {
    answer ??= new SharedAnswer(document);
    answer.send(req, res);
  });
  router.get('/docs', file('page.html'));
  router.get('/docs/guide', file('guide.html'));
  router.get('/docs/start.js', file('start.js'));
  // Compressed once and for all: 4 MB are too much to compress for everybody anew. There is no browser without gzip.
  router.get(
    '/docs/scalar.js',
    (_req, res, next) => {
      res.set('Content-Encoding', 'gzip').type('js');
      next();
    },
    file('scalar.js.gz'),
  );
  for (const path of ['/openapi.json', '/docs', '/docs/guide', '/docs/start.js', '/docs/scalar.js'])
    rejectOtherMethods(router.route(path), ['GET', 'HEAD']);
  return router;
}
