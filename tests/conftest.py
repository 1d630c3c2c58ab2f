import compared_measures


def pytest_configure(config):
    compared_measures.watch()
    config.pluginmanager.register(compared_measures.Watch())
