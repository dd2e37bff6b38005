/** Of all work that reads a project's configuration, one piece at a time: pipelines come in the order of their causes. */
export const configTurn = (project_id: number): string => `pipelines:${project_id}`;
