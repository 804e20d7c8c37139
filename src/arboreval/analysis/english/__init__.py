"""The bundled English analyzer."""
