/** Everything about a project's code, in the order of the API's pages. */
import { branchRoutes } from './branch_routes.ts';
import { commentRoutes } from './comment_routes.ts';
import { commitRoutes } from './commit_routes.ts';
import { compareRoutes } from './compare_routes.ts';
import { fileRoutes } from './file_routes.ts';
import { forkRoutes } from './fork_routes.ts';
import { protectedRoutes } from './protected_routes.ts';
import { statusList } from './status_routes.ts';
import { tagRoutes } from './tag_routes.ts';
import { treeRoutes } from './tree_routes.ts';

export const repositoryRoutes = [
  ...branchRoutes,
  ...protectedRoutes,
  ...tagRoutes,
  ...commitRoutes,
  ...commentRoutes,
  statusList,
  ...treeRoutes,
  ...fileRoutes,
  ...compareRoutes,
  ...forkRoutes,
];
