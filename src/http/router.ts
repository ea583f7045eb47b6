import { type ErrorRequestHandler, type IRoute, type RequestHandler, Router } from 'express';
import type { Context } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import type { Limiters } from '../limits/limiters.ts';
import { requestContext } from '../shared/request-context.ts';
import { answer, answerHead } from './answer.ts';
import { parseBody } from './body.ts';
import { requireAuth } from './identify.ts';
import { createSharedReads } from './shared-reads.ts';
import { validate } from './validate.ts';

/** Starts the deadlines. Runs after the body parser, because a client may send its body slowly. */
const startRequestContext: RequestHandler = (req, res, next) => {
  const { trace } = res.locals;
  const userAgent = req.headers['user-agent'];
  requestContext.run({ id: String(req.id), trace, userAgent, startedAt: performance.now() }, next);
};

const named =
  (operation: string): RequestHandler =>
  (_req, res, next) => {
    res.locals.operation = operation;
    next();
  };

/**
 * Verifies the API key of a malformed request by a query, so that an invalid key gets 401 instead of 400. A key whose
 * scope does not include this query is valid.
 */
function verifyKeyOfMalformed({ data }: Context): ErrorRequestHandler {
  return async (error, _req, { locals: { caller } }, next) => {
    const isRejected = error instanceof ApiError && error.status === 401;
    if (caller?.via === 'api_key' && !isRejected)
      await data.find(caller, 'get_customer').catch((rejection: unknown) => {
        if (!(rejection instanceof ApiError && rejection.reason === 'key_scope')) throw rejection;
      });
    next(error);
  };
}

/** Makes a route answer OPTIONS, and reject other methods with 405 (RFC 9110). */
export function rejectOtherMethods(route: IRoute, methods: readonly string[]) {
  const allow = [...methods, 'OPTIONS'].join(', ');
  route.options((_req, res) => {
    res.set('Allow', allow).status(204).end();
  });
  route.all(() => {
    const more = { status: 405, headers: { Allow: allow }, reason: 'no_such_method' } as const;
    throw new ApiError('invalid_request', `This path supports ${allow}.`, more);
  });
}

/** Makes the routes from the declarations of endpoints. Middleware of a route runs in the order below. */
export function endpointRouter(endpoints: readonly Endpoint[], context: Context, limiters: Limiters): Router {
  const router = Router({ caseSensitive: true });
  const sharedReads = createSharedReads(() => context.metrics?.joinedReads.inc());
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  // Sorts fixed paths before parameters, because a brace comes after letters.
  for (const [path, ofPath] of [...byPath].sort()) {
    const route = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    for (const endpoint of ofPath)
      route[endpoint.method](
        named(endpoint.operation),
        requireAuth(endpoint.guard),
        ...(endpoint.body ? parseBody(endpoint.maxBody) : []),
        startRequestContext,
        validate(endpoint),
        verifyKeyOfMalformed(context),
        ...(endpoint.download === undefined ? [] : [answerHead(endpoint)]),
        ...(endpoint.limits ?? []).flatMap((name) => limiters[name]),
        answer(endpoint, context, sharedReads),
      );
    const methods = ofPath.map(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase()));
    rejectOtherMethods(route, methods.flat());
  }
  return router;
}
