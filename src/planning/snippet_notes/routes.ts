/** Endpoints of comments, threads and award emoji on the snippets of projects. */
import { awardRoutes } from '../awards/routes.ts';
import { discussionRoutes } from '../discussions/routes.ts';
import { noteRoutes } from '../notes/routes.ts';
import { snippetNoun } from './noun.ts';

export const snippetNoteRoutes = [
  ...noteRoutes(snippetNoun),
  ...discussionRoutes(snippetNoun),
  ...awardRoutes(snippetNoun),
];
