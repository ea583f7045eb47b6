import { type Express, json, type Request, type RequestHandler, type Response } from 'express';
import { answer, sendCopy, sendOnce } from './answer.ts';
import { hashOfApiKey, isApiKey, isWellFormedApiKey } from './api-key.ts';
import { Body } from './body.ts';
import { bearerToken, type Caller, tokenRefused } from './caller.ts';
import { createCollapser } from './collapse.ts';
import type { Context } from './context.ts';
import { apiBase, type Endpoint, type Guard } from './endpoint.ts';
import { ApiError, notFound, unauthorized } from './errors.ts';
import { textOf } from './json.ts';
import { parse } from './parse.ts';
import { Deadline, upstreamBudgetMs } from './upstream.ts';

/** Whom the credential of a request stands for. @throws ApiError unauthorized when it stands for nobody. */
async function callerOf(req: Request, guard: Guard, context: Context): Promise<Caller | null> {
  if (guard === 'none') return null;
  const token = bearerToken(req);
  if (token === null) {
    if (guard === 'optional') return null;
    throw unauthorized('Send an access token: Authorization: Bearer <token>.');
  }
  if (!isApiKey(token)) return await context.verify(token);
  if (guard === 'user')
    throw unauthorized('An API key has no session: send the access token of a user.', { tokenCame: true });
  if (!isWellFormedApiKey(token)) throw tokenRefused();
  return { via: 'api_key', keyHash: hashOfApiKey(token) };
}

const run = (middleware: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((resolve, reject) => {
    middleware(req, res, (error: unknown) => (error ? reject(error) : resolve()));
  });

/** Authenticates and counts. A request with a faulty credential is counted, too, on its address. */
async function admit(
  req: Request,
  res: Response,
  { guard }: Endpoint,
  context: Context,
): Promise<Caller | null> {
  try {
    const caller = await callerOf(req, guard, context);
    res.locals.caller = caller;
    await context.rateLimits.general(req, res);
    return caller;
  } catch (error) {
    if (res.locals.budget === undefined) await context.rateLimits.general(req, res);
    throw error;
  }
}

const readJson = { '16kb': json({ limit: '16kb' }), '32kb': json({ limit: '32kb' }) };

/**
 * Reads and validates what the handler of an endpoint gets, and counts it on the endpoint's own limit.
 * @throws ApiError for what is not as declared
 */
async function prepareCall(
  req: Request,
  res: Response,
  endpoint: Endpoint,
  context: Context,
  caller: Caller | null,
  deadline: Deadline,
) {
  try {
    const params = endpoint.params?.safeParse(req.params);
    if (params?.success === false) throw notFound('address');
    const query = endpoint.query && parse(endpoint.query, req.query);
    if (endpoint.body) await deadline.excluding(run(readJson[endpoint.maxBody ?? '16kb'], req, res));
    const body = endpoint.body && parse(endpoint.body, req.body);
    if (endpoint.extraLimit) await context.rateLimits.extra[endpoint.extraLimit](req, res);
    return { params: params?.data ?? {}, query: query ?? {}, body, context, caller, deadline, req };
  } catch (error) {
    // Whether a key is live shows when it is used. A faulty request does not get that far: a revoked key must be told
    // so whatever it is sent with.
    if (caller?.via === 'api_key') await context.supabase.callFunction(caller, 'get_customer', deadline);
    throw error;
  }
}

type Collapse = ReturnType<typeof createCollapser<Body>>;

function toHandler(endpoint: Endpoint, context: Context, collapse: Collapse): RequestHandler {
  const { rateLimits, noteLastSeen } = context;

  return async (req, res) => {
    const deadline = new Deadline(res.locals.requestId);
    res.locals.operation = endpoint.operation;
    const caller = await admit(req, res, endpoint, context);
    try {
      const call = await prepareCall(req, res, endpoint, context, caller, deadline);
      const read = async (within: Deadline) =>
        new Body(textOf(await endpoint.handle({ ...call, deadline: within })));
      if (endpoint.cache === 'no-store') {
        await sendOnce(req, res, textOf(await endpoint.handle(call)), endpoint.status);
      } else if (endpoint.shared && caller?.via !== 'api_key') {
        const key = `${endpoint.operation} ${JSON.stringify(call.query)}`;
        // The run has a deadline of its own: whoever asked for it may have come long before those who share it.
        const shared = collapse(key, () => read(new Deadline(deadline.requestId)));
        await sendCopy(req, res, await deadline.sharing(shared, upstreamBudgetMs.data));
      } else {
        // A key's read, too: whether the key is live is asked anew with every request, in the read itself.
        await sendCopy(req, res, await read(deadline));
      }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorized') rateLimits.noteKey(caller, false);
      throw error;
    }
    rateLimits.noteKey(caller, true);
    noteLastSeen(caller);
  };
}

/** Makes a path answer OPTIONS, and 405 to methods it does not have (RFC 9110). */
export function refuseOtherMethods(
  app: Express,
  path: string,
  methods: readonly string[],
  { rateLimits }: Context,
) {
  const allow = [...methods, 'OPTIONS'].join(', ');
  app.options(path, async (req, res) => {
    await rateLimits.general(req, res);
    answer(res, 204, ['Allow', allow]);
  });
  app.all(path, () => {
    throw new ApiError('invalid_request', `This address takes ${allow}.`, {
      status: 405,
      headers: { Allow: allow },
    });
  });
}

/** Adds the routes of endpoints: to the app itself, since a router in between costs each request more than its match. */
export function addEndpoints(app: Express, endpoints: readonly Endpoint[], context: Context) {
  const collapse = createCollapser<Body>(() => context.metrics?.readJoined());
  const methodsOf = new Map<string, string[]>();
  for (const endpoint of endpoints) {
    const path = apiBase + endpoint.path.replace(/\{(\w+)\}/g, ':$1');
    app[endpoint.method](path, toHandler(endpoint, context, collapse));
    const methods = endpoint.method === 'get' ? ['GET', 'HEAD'] : [endpoint.method.toUpperCase()];
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...methods]);
  }
  for (const [path, methods] of methodsOf) refuseOtherMethods(app, path, methods, context);
}
