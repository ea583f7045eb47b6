import { z } from 'zod';
import { endpoint, inEnvelope } from '../endpoint.ts';
import { Category } from '../model/category.ts';

export const categoryEndpoints = [
  endpoint('listCategories', 'GET /categories', {
    summary: 'Category tree',
    description:
      'Active categories in display order, each with its children. No token is needed, but one that is ' +
      'sent must be valid.',
    guard: 'optional',
    response: z.object({ data: z.array(Category) }).meta({ id: 'CategoryListResponse' }),
    cache: 'shared',
    handle: async ({ context, caller }) =>
      inEnvelope('data', await context.data.service.json(caller, 'list_categories')),
  }),
];
