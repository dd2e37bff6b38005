/** Every endpoint: the resources' lists, joined. */
import type { Call } from './access/call.ts';
import type { AnyEndpoint } from './http/endpoint.ts';
import { groupRoutes } from './groups/routes.ts';
import { instanceRoutes } from './instance/routes.ts';
import { auditRoutes } from './instance/audit_routes.ts';
import { settingsRoutes } from './instance/settings_routes.ts';
import { issueRoutes } from './issues/routes.ts';
import { issueTodos } from './issues/todos.ts';
import { labelRoutes } from './labels/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { closedBy } from './merge_requests/closed_by.ts';
import { milestoneRoutes } from './milestones/routes.ts';
import { namespaceRoutes } from './namespaces/routes.ts';
import { todoRoutes } from './todos/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { userRoutes } from './users/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { docsRoutes } from './web/docs_routes.ts';

export const endpoints: AnyEndpoint<Call>[] = [
  ...instanceRoutes,
  ...namespaceRoutes,
  ...userRoutes,
  ...tokenRoutes,
  ...groupRoutes,
  ...projectRoutes,
  ...memberRoutes,
  ...labelRoutes,
  ...milestoneRoutes,
  ...issueRoutes,
  closedBy,
  ...todoRoutes({ Issue: issueTodos }),
  ...settingsRoutes,
  ...auditRoutes,
  ...docsRoutes(() => endpoints),
];
