import { readFileSync } from 'node:fs';
import type { Express } from 'express';
import { sendCopy } from './answer.ts';
import { Body, type BodyType } from './body.ts';
import type { Context } from './context.ts';
import { apiBase } from './endpoint.ts';
import type { OpenApiDocument } from './openapi.ts';
import { refuseOtherMethods } from './router.ts';
import { pageSecurityHeaders } from './security-headers.ts';

const file = (name: string) => readFileSync(new URL(`docs/${name}`, import.meta.url));

/**
 * The document at /openapi.json and the interactive reference at /docs. They are no endpoints of the contract, so the
 * document does not describe them; like every address they are counted and answer other methods with 405.
 */
export function addDocs(app: Express, document: OpenApiDocument, context: Context) {
  const serve = (
    path: string,
    operation: string,
    read: () => string | Buffer,
    type: BodyType,
    encoding?: 'gzip',
  ) => {
    let body: Body | undefined; // made when somebody asks for it: most processes are never asked
    app.get(apiBase + path, async (req, res) => {
      res.locals.operation = operation;
      await context.rateLimits.general(req, res);
      body ??= new Body(read(), type, encoding);
      await sendCopy(req, res, body);
    });
    refuseOtherMethods(app, apiBase + path, ['GET', 'HEAD'], context);
  };
  app.use(`${apiBase}/docs`, (_req, res, next) => {
    res.locals.securityHeaders = pageSecurityHeaders;
    next();
  });
  const text = JSON.stringify(document);
  serve('/openapi.json', 'getDocument', () => text, 'json');
  serve('/docs', 'getReference', () => file('page.html'), 'html');
  serve('/docs/start.js', 'getReferenceScript', () => file('start.js'), 'js');
  // Compressed once and for all: 4 MB are too much to compress for everybody anew. There is no browser without gzip.
  serve('/docs/scalar.js', 'getReferenceScript', () => file('scalar.js.gz'), 'js', 'gzip');
}
