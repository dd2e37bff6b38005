/** An environment whose time may be over. */
export const stopWork = 'environments.stop';
/** One whose address only its job could tell. */
export const urlWork = 'environments.url';
