/** Stops an environment that may have expired. */
export const stopWork = 'environments.stop';
/** Links a successful deployment to its merge requests. */
export const linkWork = 'environments.link';
/** Updates the URL of an environment from its job's dotenv variables. */
export const urlWork = 'environments.url';
