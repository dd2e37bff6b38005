/** Requests for the rows about searches. */
import type { Recipe } from './recipes.ts';

const places = ['', '/groups/:id', '/groups/:id/-', '/projects/:id', '/projects/:id/-'];

const inPlaces = (word: string, recipe: Recipe): [string, Recipe][] =>
  places.map((place) => [`GET ${place}/search {${word}}`, recipe]);

/** Of records whose text has their id (`bulk_rows.ts`). */
const matrixText = (scope: string, id: string): Recipe => ({
  query: `scope=${scope}&include_archived=true&search=%22of%20the%20matrix%20:${id}.%22`,
  holds: (item, names) => item.id === names[id],
});

export const searchRecipes: Record<string, Recipe> = {
  'GET /search {people}': { query: 'scope=users&search=a' },
  'GET /search {the project}': {
    query: 'scope=projects&include_archived=true&search=:project_path',
    holds: ({ id }, { project }) => id === project,
  },
  ...Object.fromEntries([
    ...inPlaces('it', matrixText('issues', 'issue_id')),
    ...inPlaces('the request', matrixText('merge_requests', 'merge_request_id')),
  ]),
};
