/** Los correos en español. Lo que significan los marcadores está en en.ts. */
import type { MailMessages } from './en.ts';

const NOT_YOU =
  'Si fue usted, no tiene que hacer nada. Si no, abra ahora su cuenta, cambie la contraseña y cierre las sesiones que no conozca.';

export const mailEs: MailMessages = {
  common: {
    account: 'Cuenta',
    time: 'Hora',
    browser: 'Navegador',
    address: 'Dirección de red',
    byHand: 'Si el botón no funciona, abra esta dirección:',
    sender: '{service} ha enviado este mensaje automáticamente. Nadie lee las respuestas.',
    support: 'Ayuda',
  },
  kinds: {
    invitation: {
      subject: 'Su cuenta en {service}',
      heading: 'Le damos la bienvenida a {service}',
      paragraphs: [
        'Se ha creado una cuenta para usted. Elija una contraseña para empezar.',
        'El enlace sirve una vez, durante siete días.',
      ],
      action: 'Elegir una contraseña',
      closing: 'Si no sabe de qué se trata, no haga caso de este mensaje.',
    },
    activation: {
      subject: 'Active su cuenta en {service}',
      heading: 'Su cuenta está activa',
      paragraphs: ['Elija una contraseña y podrá iniciar sesión en {service}.', 'El enlace sirve una vez, durante siete días.'],
      action: 'Elegir una contraseña',
      closing: 'Si no sabe de qué se trata, no haga caso de este mensaje.',
    },
    'password-reset': {
      subject: 'Elija una contraseña nueva para {service}',
      heading: 'Elija una contraseña nueva',
      paragraphs: ['Con este enlace elige una contraseña nueva.', 'Sirve una vez, durante una hora.'],
      action: 'Elegir una contraseña nueva',
      closing: 'Si no la ha pedido, no haga caso de este mensaje: sin el enlace nadie puede elegir una contraseña para su cuenta.',
    },
    'password-elsewhere': {
      subject: 'En {service} inicia sesión sin contraseña',
      heading: 'Su cuenta no tiene contraseña aquí',
      paragraphs: ['Alguien ha pedido una contraseña nueva. Su cuenta no tiene ninguna: inicia sesión a través de {provider}.'],
      closing: 'Si no puede iniciar sesión allí, pida ayuda a {provider}. Si no ha pedido una contraseña, no haga caso de este mensaje.',
    },
    'email-verification': {
      subject: 'Confirme su dirección de correo para {service}',
      heading: '¿Es esta su dirección de correo?',
      paragraphs: ['Confirme que {address} le pertenece.', 'El enlace sirve una vez, durante un día.'],
      action: 'Confirmar la dirección',
      closing: 'Si la cuenta no es suya, no abra el enlace y no haga caso de este mensaje.',
    },
    'new-sign-in': {
      subject: 'Nuevo inicio de sesión en {service}',
      heading: 'Su cuenta se ha usado en un navegador nuevo',
      paragraphs: ['Alguien ha iniciado sesión en su cuenta con un navegador que no se había usado antes para ella.'],
      action: 'Abrir su cuenta',
      closing: NOT_YOU,
    },
    'password-changed': {
      subject: 'Se ha cambiado su contraseña de {service}',
      heading: 'Se ha cambiado su contraseña',
      paragraphs: ['Desde ahora solo vale la contraseña nueva. Se ha cerrado su sesión en todas partes.'],
      action: 'No he sido yo: elegir una contraseña nueva',
      closing: 'Si la ha cambiado usted o su administración, no tiene que hacer nada.',
    },
    'factor-added': {
      subject: 'Segundo factor añadido en {service}',
      heading: 'Se ha añadido un segundo factor a su cuenta',
      paragraphs: ['Ahora se puede iniciar sesión en su cuenta con una aplicación de autenticación o una llave de acceso más.'],
      action: 'Abrir su cuenta',
      closing: NOT_YOU,
    },
    'factor-removed': {
      subject: 'Segundo factor quitado en {service}',
      heading: 'Se ha quitado un segundo factor de su cuenta',
      paragraphs: ['Una aplicación de autenticación o una llave de acceso ya no sirve para iniciar sesión en su cuenta.'],
      action: 'Abrir su cuenta',
      closing: NOT_YOU,
    },
    'recovery-codes-replaced': {
      subject: 'Códigos de recuperación nuevos en {service}',
      heading: 'Se han sustituido sus códigos de recuperación',
      paragraphs: ['Los códigos de recuperación que tenía antes ya no sirven.'],
      action: 'Abrir su cuenta',
      closing: NOT_YOU,
    },
    'account-linked': {
      subject: 'Su cuenta en {service} se ha conectado',
      heading: 'Su cuenta se ha conectado con {provider}',
      paragraphs: ['Desde ahora se puede iniciar sesión con su cuenta de {provider}.'],
      action: 'Abrir su cuenta',
      closing: NOT_YOU,
    },
    'account-unlinked': {
      subject: 'Su cuenta en {service} se ha desconectado',
      heading: 'Su cuenta se ha desconectado de {provider}',
      paragraphs: ['Ya no se puede iniciar sesión con su cuenta de {provider}.'],
      action: 'Abrir su cuenta',
      closing: NOT_YOU,
    },
    'data-downloaded': {
      subject: 'Se han descargado sus datos de {service}',
      heading: 'Se han descargado los datos de su cuenta',
      paragraphs: ['Alguien ha descargado un archivo con todo lo que este servicio guarda sobre usted. No contiene ninguna contraseña.'],
      action: 'Abrir su cuenta',
      closing: NOT_YOU,
    },
    'email-changed': {
      subject: 'Se ha cambiado su dirección de correo en {service}',
      heading: 'Se ha cambiado su dirección de correo',
      paragraphs: ['Su cuenta tiene ahora la dirección {address}. Este es el último mensaje a la dirección anterior.'],
      action: 'Abrir su cuenta',
      closing: NOT_YOU,
    },
    'email-removed': {
      subject: 'Se ha quitado su dirección de correo en {service}',
      heading: 'Se ha quitado su dirección de correo',
      paragraphs: ['Su cuenta ya no tiene dirección de correo. Este es el último mensaje a esta dirección.'],
      action: 'Abrir su cuenta',
      closing: NOT_YOU,
    },
    test: {
      subject: 'Un mensaje de prueba de {service}',
      heading: 'El correo de {service} le llega',
      paragraphs: ['Este mensaje se pidió en la consola de administración con su cuenta. Si lo lee, el correo llega.'],
      closing: 'Si no fue usted, otra persona usa su cuenta: cambie su contraseña.',
    },
  },
};
