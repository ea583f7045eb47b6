import { z } from 'zod';
import { endpoint, inEnvelope } from '../endpoint.ts';
import { HomeSection } from '../model/home-section.ts';

export const homeEndpoints = [
  endpoint('getHome', 'GET /home', {
    summary: 'Homepage sections',
    description:
      'Active sections in display order, each with its sounds. A section without visible sounds has an empty list.',
    response: z.object({ sections: z.array(HomeSection) }).meta({ id: 'HomeResponse' }),
    cache: 'shared',
    handle: async ({ context, caller }) =>
      inEnvelope('sections', await context.data.service.json(caller, 'list_home_sections')),
  }),
];
