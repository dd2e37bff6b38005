/** All routes about a project's code, in the order of the API document. */
import { branchRoutes } from './branches/routes.ts';
import { commentRoutes } from './commits/comment_routes.ts';
import { commitRoutes } from './commits/routes.ts';
import { compareRoutes } from './commits/compare_routes.ts';
import { contributorsRoutes } from './commits/contributors_routes.ts';
import { archiveRoutes } from './files/archive_routes.ts';
import { fileRoutes } from './files/routes.ts';
import { housekeeping } from './housekeeping.ts';
import { languages } from './languages/routes.ts';
import { forkRoutes } from './forks/routes.ts';
import { moveRoutes } from './moves/routes.ts';
import { protectedRoutes } from './protection/routes.ts';
import { statusList } from './statuses/status_list_route.ts';
import { tagRoutes } from './tags/routes.ts';
import { descriptionTemplateRoutes } from './files/template_routes.ts';
import { treeRoutes } from './files/tree_routes.ts';

export const repositoryRoutes = [
  ...branchRoutes,
  ...protectedRoutes,
  ...tagRoutes,
  ...commitRoutes,
  ...commentRoutes,
  statusList,
  ...treeRoutes,
  ...fileRoutes,
  ...descriptionTemplateRoutes,
  ...archiveRoutes,
  ...compareRoutes,
  ...contributorsRoutes,
  languages,
  housekeeping,
  ...moveRoutes,
  ...forkRoutes,
];
